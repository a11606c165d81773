// Graphs for what is special to the device "cuda": every way in which a kernel is laid out, at sizes that are no
// multiple of a block, a tile or a warp, and every epilogue that a library is given or refused.
#pragma once
#include "tests/backends/graphs.h"

static const char *const cuda_graphs[] = {
    // many places; tiles, with and without other axes, and with an operand that lies along the result
    "x y = f32 67000; z = ewadd x y",
    "x y = f16 67001; z = ewmul x y",
    "x = f32 300 250; z = transpose :perm 1 0 x",
    "x = f32 3 40 33; z = transpose :perm 0 2 1 x",
    "x = f16 33 3 40; z = transpose :perm 2 1 0 x",
    "x = f32 40 33; y = f32 33 40; t = transpose :perm 1 0 x; z = sub t y",
    "x y = f32 40 33; a = transpose :perm 1 0 x; b = transpose :perm 1 0 y; c = ewadd a b; z = ewmul c c",
    "x = bool 40 33; z = transpose :perm 1 0 x",
    // more tiles than shared memory holds: of one loop, and of loops side by side
    "x = f32 9 33 40; y = f32 1 40 33; a b c d e f g h i = split 0 :sizes 1 1 1 1 1 1 1 1 1 x; ta = transpose :perm 0 "
    "2 1 a; sa = ewadd y ta; tb = transpose :perm 0 2 1 b; sb = ewadd sa tb; tc = transpose :perm 0 2 1 c; "
    "sc = ewadd sb tc; td = transpose :perm 0 2 1 d; sd = ewadd sc td; te = transpose :perm 0 2 1 e; se = ewadd sd te; "
    "tf = transpose :perm 0 2 1 f; sf = ewadd se tf; tg = transpose :perm 0 2 1 g; sg = ewadd sf tg; "
    "th = transpose :perm 0 2 1 h; sh = ewadd sg th; ti = transpose :perm 0 2 1 i; si = ewadd sh ti",
    "x = f32 33 40; t = transpose :perm 1 0 x; z = concat 0 t t t t t t t",
    // reductions by rows and by columns, of few and of many parts
    "x = f32 3 5000; z = reducesum :axes 1 x",
    "x = f32 5000 3; z = reducemax :axes 0 x",
    "x = f32 70 2000; z = reducemean :axes 0 x",
    "x = f32 2 3 40 40; z = reducemean :axes 2 3 x",
    "x = f32 5000 20; z = reduceprod :axes 1 x",
    "x = f32 33; z = reducemin :axes 0 x",
    // stages that share axes: many rows, few rows with much behind them, an axis that is not the last
    "x = f32 70 1100; z = softmax 1 x",
    "x = f32 3 40000; z = softmax 1 x",
    "x = f32 2 11 13 17; z = softmax 1 x",
    "x = f16 4 9 65; z = logsoftmax 2 x",
    "x = f32 65 130; w v = weight f32 130; z = layernorm 1 x w v",
    "x = f32 1 4 60 60; w v = weight f32 4; z = instancenorm x w v",
    "x = f64 6 50; z = softmax 1 x",
    // concatenation beside other axes, of different layouts, of one tensor twice
    "x = f32 2 3 4; y = f32 2 5 4; z = concat 1 x y x",
    "x = f32 2 3 4; y = f32 2 3 5; z = concat 2 x y",
    "x = i64 7; y = i64 4; z = concat 0 x y",
    "x = f32 30 20; w = weight f32 20 30; t = transpose :perm 1 0 x; z = concat 0 t w",
    // written in place: a block of an Inception, residuals and halves, products into columns and batches, layers that
    // see what all those before them made, outputs of which one is part of another
    "x = f32 2 8 9 9; w = weight f32 8 8 3 3; v = weight f32 16 8 1 1; a = conv :pad 1 1 1 1 x w; b = relu a; "
    "c = conv x v; p = poolmax :kernel 3 3 :pad 1 1 1 1 x; t = tanh p; z = concat 1 b c t; s = sigmoid z",
    "x = f16 2 16 9 9; w = weight f16 16 16 3 3; v = weight f16 16; c = conv :pad 1 1 1 1 x w; "
    "r = reshape :shape 16 1 1 v; b = broadcast :shape 2 16 9 9 r; d = ewadd c b; s = ewadd d x; a = relu s; "
    "e = conv :pad 1 1 1 1 a w; z = concat 1 a e a",
    "x = f32 2 8 9 9; w = weight f32 8 8 3 3; c = conv :pad 1 1 1 1 x w; s = ewadd c x; a = relu s; b = silu c; "
    "z = concat 2 a b; y = conv :pad 1 1 1 1 z w",
    "x = f32 6 16; y = f32 6 8; w = weight f32 16 8; v = weight f32 8; m = matmul x w; b = broadcast :shape 6 8 v; "
    "d = ewadd m b; r = ewadd d y; a = relu r; u = neg w; n = matmul x u; g = ewadd n b; h = gelu :approximate tanh g; "
    "s = softmax 1 y; z = concat 1 a h s; q = concat 0 z z",
    "x = f32 3 4 8; y = f32 3 8 8; a = matmul x y; e = exp x; z = concat 2 a e; f = concat 2 e a; d = concat 1 z f",
    "x = f32 1 8; y = f32 9 8; w = weight f32 8 8; a = matmul x w; b = matmul y w; z = concat 0 a b; t = tanh z",
    "x = f16 2 16 6 6; w = weight f16 16 16 3 3; v = weight f16 16 32 3 3; a = conv :pad 1 1 1 1 :act relu x w; "
    "b = tanh x; c = concat 1 a b; d = conv :pad 1 1 1 1 c v; e = relu d; f = concat 1 a b e; "
    "g h = split 1 :sizes 32 16 f; i = conv :pad 1 1 1 1 g v; j = conv h w; output f i j",
    "x = f32 4 16; y = f32 4 8; a = exp x; b = neg y; c = concat 1 a b; d = concat 1 b c; output c d b",
    "x = i64 6 20; a = neg x; b = ewmul x x; z = concat 0 a b; g = gather z a; output z",
    // from definitions, with something behind them
    "x = f32 2 7 9 9; p = poolmax :kernel 3 3 :stride 2 2 :pad 1 1 1 1 x; z = tanh p",
    "x y = f32 2 7 9 9; p = poolavg :kernel 3 3 :pad 1 1 1 1 x; z = ewadd p y",
    "x = f32 20 6; y = i64 3 4; z = gather :axis 0 x y",
    "x = f32 20 6; y = i32 5; t = transpose :perm 1 0 x; g = gather :axis 1 t y; z = relu g",
    "x = f32 6 9; z = cumsum 1 x",
    "x = f32 6 9; z = argmax 1 x",
    "x = i32 6 9; z = pow x x",
    "x = i64 99; z = div x x",
    // products: batches of two axes, transposed, one row, one column, shared by the batch, gelu by tanh
    "x y = f32 2 9 4 8; a = transpose :perm 0 2 1 3 x; b = transpose :perm 0 2 3 1 y; z = matmul a b",
    "x = f32 1 33; w = weight f32 33 7; z = matmul x w",
    "x = f32 7 33; w = weight f32 33 1; z = matmul x w",
    "x = f32 2 3 33; w = weight f32 33 7; v = weight f32 7; m = matmul x w; b = broadcast :shape 2 3 7 v; "
    "a = ewadd m b; z = gelu :approximate tanh a",
    "x = f32 5 33; y = f32 5 7; w = weight f32 33 7; v = weight f32 7; m = matmul x w; b = broadcast :shape 5 7 v; "
    "a = ewadd m b; s = ewadd a y; z = relu s",
    "x = f16 5 32; w = weight f16 32 8; v = weight f16 8; m = matmul x w; b = broadcast :shape 5 8 v; z = ewadd m b",
    // convolutions: bias after residual, refused activations, groups, one spatial axis, halves
    "x = f32 1 8 9 9; w = weight f32 8 8 3 3; v = weight f32 8; c = conv :pad 1 1 1 1 x w; s = ewadd c x; "
    "r = reshape :shape 8 1 1 v; b = broadcast :shape 1 8 9 9 r; a = ewadd s b; z = relu a",
    "x = f32 1 8 9 9; w = weight f32 8 8 3 3; v = weight f32 8; c = conv :pad 1 1 1 1 x w; r = reshape :shape 8 1 1 v; "
    "b = broadcast :shape 1 8 9 9 r; a = ewadd c b; z = silu a",
    "x = f32 1 8 9 9; w = weight f32 8 1 3 3; v = weight f32 8; c = conv :pad 1 1 1 1 :group 8 x w; "
    "r = reshape :shape 8 1 1 v; b = broadcast :shape 1 8 9 9 r; a = ewadd c b; z = clip :min 0.0 :max 6.0 a",
    "x = f16 2 8 19; w = weight f16 4 8 3; z = conv :stride 2 :pad 1 1 x w",
    "x = bf16 2 8 9 9; w = weight bf16 8 8 3 3; c = conv :pad 1 1 1 1 x w; z = relu c",
    "x = f32 2 3 12 12; w = weight f32 8 3 5 5; c = conv :stride 2 2 :pad 1 2 2 1 x w; p = poolavg :kernel 3 3 c; "
    "q = concat 1 p p; z = softmax 1 q; output z c",
};
