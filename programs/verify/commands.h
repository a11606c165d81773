// The sub-commands of taso-verify. Each takes the arguments after its name and gives the exit code.
#pragma once

int command_derivations(int argc, char **argv);
int command_derive(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_expressions(int argc, char **argv);
int command_model(int argc, char **argv);
int command_properties(int argc, char **argv);
int command_rules(int argc, char **argv);
int command_select(int argc, char **argv);
int command_symbolic(int argc, char **argv);
int command_try(int argc, char **argv);
