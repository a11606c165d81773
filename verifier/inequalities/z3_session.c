// A context, in which equal terms are one, until the rule is judged.
#include "verifier/inequalities/z3_session.h"

Z3_context z3_session_context(struct z3_session *session)
{
    if (!session->z3) {
        Z3_config config = Z3_mk_config();
        session->z3 = Z3_mk_context(config);
        Z3_del_config(config);
    }
    return session->z3;
}

static Z3_solver within_steps(Z3_context z3, Z3_solver solver, unsigned steps)
{
    Z3_solver_inc_ref(z3, solver);   // before anything else is made
    Z3_params limits = Z3_mk_params(z3);
    Z3_params_inc_ref(z3, limits);
    Z3_params_set_uint(z3, limits, Z3_mk_string_symbol(z3, "rlimit"), steps);
    Z3_solver_set_params(z3, solver, limits);
    Z3_params_dec_ref(z3, limits);
    return solver;
}

Z3_solver z3_session_solver(struct z3_session *session, unsigned steps)
{
    Z3_context z3 = z3_session_context(session);
    if (!session->of_one_after_other)
        session->of_one_after_other = within_steps(z3, Z3_mk_simple_solver(z3), steps);
    return session->of_one_after_other;
}

void z3_session_end(struct z3_session *session)
{
    if (session->of_one_after_other)
        Z3_solver_dec_ref(session->z3, session->of_one_after_other);
    if (session->z3)
        Z3_del_context(session->z3);
    vec_free(&session->answers);
}

bool z3_session_contradicts(struct z3_session *session, Z3_ast claim, unsigned steps)
{
    Z3_context z3 = z3_session_context(session);
    for (size_t i = 0; i < session->answers.count; i++)
        if (session->answers.items[i].claim == claim)
            return session->answers.items[i].contradicts;
    Z3_solver solver = within_steps(z3, Z3_mk_solver(z3), steps);
    Z3_solver_assert(z3, solver, claim);
    struct z3_answer answer = {claim, Z3_solver_check(z3, solver) == Z3_L_FALSE};
    Z3_solver_dec_ref(z3, solver);
    vec_push(&session->answers, answer);
    return answer.contradicts;
}
