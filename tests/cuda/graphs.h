// Graphs for what is special to the device "cuda": every way in which a kernel is laid out, at sizes that are no
// multiple of a block, a tile or a warp, and every epilogue that a library is given or refused.
#pragma once
#include "tests/backends/graphs.h"

static const char *const cuda_graphs[] = {
    // many places; tiles, with and without other axes, and with an operand that lies along the result
    "(graph " X2("(f32 67000)", "(f32 67000)") "(let z (ewadd x y)) (output z))",
    "(graph " X2("(f16 67001)", "(f16 67001)") "(let z (ewmul x y)) (output z))",
    "(graph " X1("(f32 300 250)") "(let z (transpose :perm 1 0 x)) (output z))",
    "(graph " X1("(f32 3 40 33)") "(let z (transpose :perm 0 2 1 x)) (output z))",
    "(graph " X1("(f16 33 3 40)") "(let z (transpose :perm 2 1 0 x)) (output z))",
    "(graph " X2("(f32 40 33)", "(f32 33 40)") "(let t (transpose :perm 1 0 x)) (let z (sub t y)) (output z))",
    "(graph " X2("(f32 40 33)", "(f32 40 33)") "(let a (transpose :perm 1 0 x)) (let b (transpose :perm 1 0 y))"
                                               "(let c (ewadd a b)) (let z (ewmul c c)) (output z))",
    "(graph " X1("(bool 40 33)") "(let z (transpose :perm 1 0 x)) (output z))",
    // more tiles than shared memory holds: of one loop, and of loops side by side
    "(graph " X2("(f32 9 33 40)", "(f32 1 40 33)") "(let (a b c d e f g h i) (split 0 :sizes 1 1 1 1 1 1 1 1 1 x))"
                                                   "(let ta (transpose :perm 0 2 1 a)) (let sa (ewadd y ta))"
                                                   "(let tb (transpose :perm 0 2 1 b)) (let sb (ewadd sa tb))"
                                                   "(let tc (transpose :perm 0 2 1 c)) (let sc (ewadd sb tc))"
                                                   "(let td (transpose :perm 0 2 1 d)) (let sd (ewadd sc td))"
                                                   "(let te (transpose :perm 0 2 1 e)) (let se (ewadd sd te))"
                                                   "(let tf (transpose :perm 0 2 1 f)) (let sf (ewadd se tf))"
                                                   "(let tg (transpose :perm 0 2 1 g)) (let sg (ewadd sf tg))"
                                                   "(let th (transpose :perm 0 2 1 h)) (let sh (ewadd sg th))"
                                                   "(let ti (transpose :perm 0 2 1 i)) (let si (ewadd sh ti))"
                                                   "(output si))",
    "(graph " X1("(f32 33 40)") "(let t (transpose :perm 1 0 x)) (let z (concat 0 t t t t t t t)) (output z))",
    // reductions by rows and by columns, of few and of many parts
    "(graph " X1("(f32 3 5000)") "(let z (reducesum :axes 1 x)) (output z))",
    "(graph " X1("(f32 5000 3)") "(let z (reducemax :axes 0 x)) (output z))",
    "(graph " X1("(f32 70 2000)") "(let z (reducemean :axes 0 x)) (output z))",
    "(graph " X1("(f32 2 3 40 40)") "(let z (reducemean :axes 2 3 x)) (output z))",
    "(graph " X1("(f32 5000 20)") "(let z (reduceprod :axes 1 x)) (output z))",
    "(graph " X1("(f32 33)") "(let z (reducemin :axes 0 x)) (output z))",
    // stages that share axes: many rows, few rows with much behind them, an axis that is not the last
    UNARY("softmax 1", "(f32 70 1100)"),
    UNARY("softmax 1", "(f32 3 40000)"),
    UNARY("softmax 1", "(f32 2 11 13 17)"),
    UNARY("logsoftmax 2", "(f16 4 9 65)"),
    "(graph " X1("(f32 65 130)") W2("(f32 130)", "(f32 130)") "(let z (layernorm 1 x w v)) (output z))",
    "(graph " X1("(f32 1 4 60 60)") W2("(f32 4)", "(f32 4)") "(let z (instancenorm x w v)) (output z))",
    "(graph " X1("(f64 6 50)") "(let z (softmax 1 x)) (output z))",
    // concatenation beside other axes, of different layouts, of one tensor twice
    "(graph " X2("(f32 2 3 4)", "(f32 2 5 4)") "(let z (concat 1 x y x)) (output z))",
    "(graph " X2("(f32 2 3 4)", "(f32 2 3 5)") "(let z (concat 2 x y)) (output z))",
    "(graph " X2("(i64 7)", "(i64 4)") "(let z (concat 0 x y)) (output z))",
    "(graph " X1("(f32 30 20)") W1("(f32 20 30)") "(let t (transpose :perm 1 0 x)) (let z (concat 0 t w)) (output z))",
    // written in place: a block of an Inception, residuals and halves, products into columns and batches, layers that
    // see what all those before them made, outputs of which one is part of another
    "(graph " X1("(f32 2 8 9 9)")
        W2("(f32 8 8 3 3)", "(f32 16 8 1 1)") "(let a (conv :pad 1 1 1 1 x w)) (let b (relu a)) (let c (conv x v))"
                                              "(let p (poolmax :kernel 3 3 :pad 1 1 1 1 x)) (let t (tanh p))"
                                              "(let z (concat 1 b c t)) (let s (sigmoid z)) (output s))",
    "(graph " X1("(f16 2 16 9 9)") W2(
        "(f16 16 16 3 3)", "(f16 16)") "(let c (conv :pad 1 1 1 1 x w)) (let r (reshape :shape 16 1 1 v))"
                                       "(let b (broadcast :shape 2 16 9 9 r)) (let d (ewadd c b)) (let s (ewadd d x))"
                                       "(let a (relu s)) (let e (conv :pad 1 1 1 1 a w)) (let z (concat 1 a e a))"
                                       "(output z))",
    "(graph " X1("(f32 2 8 9 9)") W1("(f32 8 8 3 3)") "(let c (conv :pad 1 1 1 1 x w)) (let s (ewadd c x))"
                                                      "(let a (relu s)) (let b (silu c)) (let z (concat 2 a b))"
                                                      "(let y (conv :pad 1 1 1 1 z w)) (output y))",
    "(graph " X2("(f32 6 16)", "(f32 6 8)")
        W2("(f32 16 8)",
           "(f32 8)") "(let m (matmul x w)) (let b (broadcast :shape 6 8 v)) (let d (ewadd m b))"
                      "(let r (ewadd d y)) (let a (relu r)) (let u (neg w)) (let n (matmul x u)) (let g (ewadd n b))"
                      "(let h (gelu :approximate tanh g)) (let s (softmax 1 y))"
                      "(let z (concat 1 a h s)) (let q (concat 0 z z)) (output q))",
    "(graph " X2("(f32 3 4 8)", "(f32 3 8 8)") "(let a (matmul x y)) (let e (exp x)) (let z (concat 2 a e))"
                                               "(let f (concat 2 e a)) (let d (concat 1 z f)) (output d))",
    "(graph " X2("(f32 1 8)", "(f32 9 8)") W1("(f32 8 8)") "(let a (matmul x w)) (let b (matmul y w))"
                                                           "(let z (concat 0 a b)) (let t (tanh z)) (output t))",
    "(graph " X1("(f16 2 16 6 6)")
        W2("(f16 16 16 3 3)", "(f16 16 32 3 3)") "(let a (conv :pad 1 1 1 1 :act relu x w)) (let b (tanh x))"
                                                 "(let c (concat 1 a b)) (let d (conv :pad 1 1 1 1 c v))"
                                                 "(let e (relu d)) (let f (concat 1 a b e)) (let (g h) (split 1 :sizes "
                                                 "32 16 f)) (let i (conv :pad 1 1 1 1 g v)) (let j (conv h w))"
                                                 "(output f i j))",
    "(graph " X2("(f32 4 16)", "(f32 4 8)") "(let a (exp x)) (let b (neg y)) (let c (concat 1 a b))"
                                            "(let d (concat 1 b c)) (output c d b))",
    "(graph " X1("(i64 6 20)") "(let a (neg x)) (let b (ewmul x x)) (let z (concat 0 a b)) (let g (gather z a))"
                               "(output z))",
    // from definitions, with something behind them
    "(graph " X1(
        "(f32 2 7 9 9)") "(let p (poolmax :kernel 3 3 :stride 2 2 :pad 1 1 1 1 x)) (let z (tanh p)) (output z))",
    "(graph " X2("(f32 2 7 9 9)", "(f32 2 7 9 9)") "(let p (poolavg :kernel 3 3 :pad 1 1 1 1 x)) (let z (ewadd p y))"
                                                   "(output z))",
    "(graph " X2("(f32 20 6)", "(i64 3 4)") "(let z (gather :axis 0 x y)) (output z))",
    "(graph " X2("(f32 20 6)",
                 "(i32 5)") "(let t (transpose :perm 1 0 x)) (let g (gather :axis 1 t y)) (let z (relu g))"
                            "(output z))",
    "(graph " X1("(f32 6 9)") "(let z (cumsum 1 x)) (output z))",
    "(graph " X1("(f32 6 9)") "(let z (argmax 1 x)) (output z))",
    "(graph " X1("(i32 6 9)") "(let z (pow x x)) (output z))",
    "(graph " X1("(i64 99)") "(let z (div x x)) (output z))",
    // products: batches of two axes, transposed, one row, one column, shared by the batch, gelu by tanh
    "(graph " X2("(f32 2 9 4 8)",
                 "(f32 2 9 4 8)") "(let a (transpose :perm 0 2 1 3 x)) (let b (transpose :perm 0 2 3 1 y))"
                                  "(let z (matmul a b)) (output z))",
    "(graph " X1("(f32 1 33)") W1("(f32 33 7)") "(let z (matmul x w)) (output z))",
    "(graph " X1("(f32 7 33)") W1("(f32 33 1)") "(let z (matmul x w)) (output z))",
    "(graph " X1("(f32 2 3 33)") W2("(f32 33 7)", "(f32 7)") "(let m (matmul x w))"
                                                             "(let b (broadcast :shape 2 3 7 v)) (let a (ewadd m b))"
                                                             "(let z (gelu :approximate tanh a)) (output z))",
    "(graph " X2("(f32 5 33)", "(f32 5 7)")
        W2("(f32 33 7)", "(f32 7)") "(let m (matmul x w))"
                                    "(let b (broadcast :shape 5 7 v)) (let a (ewadd m b))"
                                    "(let s (ewadd a y)) (let z (relu s)) (output z))",
    "(graph " X1("(f16 5 32)") W2("(f16 32 8)", "(f16 8)") "(let m (matmul x w)) (let b (broadcast :shape 5 8 v))"
                                                           "(let z (ewadd m b)) (output z))",
    // convolutions: bias after residual, refused activations, groups, one spatial axis, halves
    "(graph " X1("(f32 1 8 9 9)")
        W2("(f32 8 8 3 3)", "(f32 8)") "(let c (conv :pad 1 1 1 1 x w)) (let s (ewadd c x))"
                                       "(let r (reshape :shape 8 1 1 v))"
                                       "(let b (broadcast :shape 1 8 9 9 r)) (let a (ewadd s b))"
                                       "(let z (relu a)) (output z))",
    "(graph " X1("(f32 1 8 9 9)")
        W2("(f32 8 8 3 3)", "(f32 8)") "(let c (conv :pad 1 1 1 1 x w))"
                                       "(let r (reshape :shape 8 1 1 v))"
                                       "(let b (broadcast :shape 1 8 9 9 r)) (let a (ewadd c b))"
                                       "(let z (silu a)) (output z))",
    "(graph " X1("(f32 1 8 9 9)")
        W2("(f32 8 1 3 3)", "(f32 8)") "(let c (conv :pad 1 1 1 1 :group 8 x w))"
                                       "(let r (reshape :shape 8 1 1 v))"
                                       "(let b (broadcast :shape 1 8 9 9 r)) (let a (ewadd c b))"
                                       "(let z (clip :min 0.0 :max 6.0 a)) (output z))",
    "(graph " X1("(f16 2 8 19)") W1("(f16 4 8 3)") "(let z (conv :stride 2 :pad 1 1 x w)) (output z))",
    "(graph " X1("(bf16 2 8 9 9)") W1("(bf16 8 8 3 3)") "(let c (conv :pad 1 1 1 1 x w)) (let z (relu c)) (output z))",
    "(graph " X1("(f32 2 3 12 12)") W1("(f32 8 3 5 5)") "(let c (conv :stride 2 2 :pad 1 2 2 1 x w))"
                                                        "(let p (poolavg :kernel 3 3 c)) (let q (concat 1 p p))"
                                                        "(let z (softmax 1 q)) (output z c))",
};
