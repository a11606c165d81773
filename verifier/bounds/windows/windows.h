// What is argued of windows (T10 and T11; docs/theory/bounds.md, section 2.3). Only the files that analyse an instance
// include this.
#pragma once
#include "verifier/bounds/classes/index_classes.h"

#define LARGEST_KERNEL 3   // of kernels that are variables, and of attributes, that is tried

// --- alike on both sides, so that they are a common factor: T10 (alike.c) -------------------------------------------

bool windows_are_alike(struct analysis *an);
// Alike, level by level, where windows stand behind windows.
bool windows_are_in_chains(struct analysis *an);
// Is there a convolution with variable pads that reads what is not 0 where all variables are 0, by a kernel that is not
// the same formula at all of its places? The pads that are tried do not put each of them beside the image.
bool windows_are_beside_images_untold(const struct analysis *an);
// Has a convolution by such a kernel longer pads than half of it? Of small images it does not read the middle then.
bool windows_leave_out_middles(const struct analysis *an);
// Are images whose sizes are named read by windows with attributes that are tried up to small ones?
bool windows_outgrow_named_images(struct analysis *an);

// --- one window of each image for an entry: T10 (one_place.c) -------------------------------------------------------

// Does each entry of the output read one window of each image, and is nothing else done with these axes?
bool windows_have_one_place(struct analysis *an);
// Have both outputs of a rule the size that windows which are alike leave of one image, axis by axis?
bool windows_leave_equal_sizes(struct analysis *an);
// Does one label go along the item's class at most, and is nothing done with it but what is allowed?
bool windows_go_along_one_place(struct analysis *an, uint32_t item, uint16_t allowed);
// Do all windows that make an entry of an image go along its axis from one place of the output, on the same spatial
// axis? `with_kernels`: also those that enlarge kernels.
bool windows_have_places_of_their_own(struct analysis *an, bool with_kernels);

// --- of images that conditions name: T10 (named.c) ------------------------------------------------------------------

// Do conditions name the sizes of all images and kernels, so that strides alone are to be tried, and all that make a
// difference are? `of_windows`: the flags of classes whose sizes have to be named.
bool windows_are_fixed(struct analysis *an, uint16_t of_windows);

// --- of written sizes: T11 (written.c) ------------------------------------------------------------------------------

// Are windows, pads and kernels of sizes that are written down, so that entries depend on what is near to them?
bool windows_are_near(struct analysis *an);

// --- sizes to test (sizes.c) ----------------------------------------------------------------------------------------

// How many positions of each class stand for one another, by classes that windows lead to from one another.
struct window_steps {
    int64_t of_class[MAX_ITEMS];   // 0: no window
    uint16_t group[MAX_ITEMS];
};
// False: two ways lead to one axis in different steps.
bool windows_find_steps(struct analysis *an, struct window_steps *ret);
// How large images of the class are to be tested, and all that windows tie to them: where entries depend on what is
// near to them, and where windows are alike, with at least so many places.
int64_t windows_size_by_reach(struct analysis *an, uint32_t class);
int64_t windows_size_by_labels(struct analysis *an, uint32_t class, int64_t least);
