// `taso-opt extract`: extraction by itself, on e-graphs from files.
#ifndef EGRAPH_EXTRACTION_COMMAND_H
#define EGRAPH_EXTRACTION_COMMAND_H
int extraction_command(int argc, char **argv);   // what stands behind the name of the command; gives the exit code
#endif
