// What a device can do at most in a second, measured: what a step takes is judged by the share of it that it reaches.
#pragma once

struct roofs {
    double operations;   // in products of matrices, a multiply-add counting as two
    double copied;       // bytes, those that are read and those that are written
    double read;         // bytes
};
