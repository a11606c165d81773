// `taso-opt extract`: extraction by itself, on e-graphs from files.
#pragma once
int extraction_command(int argc, char **argv);   // what stands behind the name of the command; gives the exit code
