#include "generator/other_sizes/instances.h"
#include "tests/support/check.h"

static const struct {
    const char *general, *special;
    bool is_instance;
} cases[] = {
    {"(split0 $axis (concat $axis ?x ?y))", "(split0 1 (concat 1 ?x ?y))", true},
    {"(split0 $axis (concat $axis ?x ?y))", "(split0 1 (concat 0 ?x ?y))", false},
    {"(split0 1 (concat 1 ?x ?y))", "(split0 $axis (concat $axis ?x ?y))", false},
    {"(split0 $axis (concat $axis ?x ?y))", "(split1 1 (concat 1 ?x ?y))", false},
    {"(conv :pad $pad :act $act ?x ?y)", "(conv :pad 1 1 1 1 :act relu ?x ?y)", true},
    {"(conv :pad $pad :act $act ?x ?y)", "(conv :pad 1 1 1 1 :act $act ?x ?y)", true},
    {"(conv :pad $pad ?x ?y)", "(conv :pad 1 1 1 1 :act relu ?x ?y)", false},
    {"(f :act $act (g :act $act2 ?x))", "(f :act $act (g :act $act ?x))", true},
    {"(f :act $act (g :act $act ?x))", "(f :act $act (g :act $act2 ?x))", false},
    {"(split0 $axis ?x)", "(split0 (dim ?x 1) ?x)", false},
    {"(f $axis ?x)", "(f 1 ?x) (where (= (dim ?x 2) 1))", false},
};

TEST_OF_EACH(instances_have_values_for_all_variables, row, cases)
{
    if (text_is_instance(row->general, row->special) != row->is_instance)
        fail_msg("%s and %s", row->general, row->special);
    if (row->is_instance)
        assert_true(text_hash_of_instances(row->general) == text_hash_of_instances(row->special));
}
