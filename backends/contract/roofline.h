// The most that a device can do in a second, measured: the time of a step is judged by the share of it that it reaches.
#pragma once

struct roofline {
    double operations;   // in products of matrices, a multiply-add counting as two
    double copied;       // bytes, those that are read and those that are written
    double read;         // bytes
};
