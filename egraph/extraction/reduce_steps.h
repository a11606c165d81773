// The steps of a reduction; each may make others possible again.
#pragma once
struct draft;
