// `taso-opt extract`: extraction by itself, on e-graphs from files.
#ifndef OPTIMIZER_EXTRACT_COMMAND_H
#define OPTIMIZER_EXTRACT_COMMAND_H
int extraction_command(int argc, char **argv);   // what stands behind the name of the command; gives the exit code
#endif
