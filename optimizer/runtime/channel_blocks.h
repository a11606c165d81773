// Tensors that ONNX Runtime keeps in blocks of channels between convolutions. A convolution that is measured alone pays
// for bringing its image into blocks, and its result out of them; in a model it pays where its neighbours have others.
#pragma once
#include "optimizer/runtime/step_groups.h"

struct channel_blocks {
    const struct step_groups *groups;
    int64_t block;      // channels
    bool *is_blocked;   // of every tensor
    bool *has_blocks;   // of every node: it runs on them
};
int64_t channel_block_here(void);   // ONNX Runtime's on this processor: 16 channels with AVX-512, 8 without
// Blocks in the groups' arena.
void channel_blocks_find(struct channel_blocks *ret_blocks, const struct step_groups *groups, int64_t block);
// Does the node read the tensor in another layout than that in which it is made?
bool channel_blocks_differ(const struct channel_blocks *b, node_id reader, tensor_id t);
// The number of tensors that the group's convolution changes when alone: image and result, if these may be blocked.
int channel_blocks_of_group(const struct step_groups *groups, int64_t block, node_id first, tensor_id ret_tensors[2]);
// A graph of so many convolutions, one behind the other, of each of the type's channels by itself, with one entry.
bool channel_blocks_chain(struct graph *ret_graph, const struct type *type, int n);
