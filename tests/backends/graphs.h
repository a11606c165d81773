// Graphs in text form that together use every kernel of a device, every fusion, and every way through the planner.
#pragma once

#define X1(type) "(let x (input 0) " type ")"
#define X2(type, other) X1(type) "(let y (input 1) " other ")"
#define W1(type) "(let w (weight 0) " type ")"
#define W2(type, other) W1(type) "(let v (weight 1) " other ")"
#define UNARY(op, type) "(graph " X1(type) "(let z (" op " x)) (output z))"
#define BINARY(op, type) "(graph " X2(type, type) "(let z (" op " x y)) (output z))"

// The named operators, each on one block and a bit, and on odd shapes; then what planners do with several.
static const char *const conformance_graphs[] = {
    UNARY("relu", "(f32 3 700)"),
    UNARY("tanh", "(f32 3 700)"),
    UNARY("sigmoid", "(f32 1)"),
    UNARY("exp", "(f32)"),
    UNARY("erf", "(f32 5 7 3)"),
    UNARY("neg", "(f32 1025)"),
    UNARY("abs", "(f32 2 2)"),
    UNARY("sign", "(f32 77)"),
    UNARY("floor", "(f32 77)"),
    UNARY("ceil", "(f32 77)"),
    UNARY("round", "(f32 77)"),
    UNARY("sin", "(f32 77)"),
    UNARY("cos", "(f32 77)"),
    UNARY("atan", "(f32 77)"),
    UNARY("sinh", "(f32 77)"),
    UNARY("asinh", "(f32 77)"),
    UNARY("reciprocal", "(f32 77)"),
    UNARY("gelu", "(f32 4 99)"),
    UNARY("silu", "(f32 4 99)"),
    UNARY("hardswish", "(f32 4 99)"),
    UNARY("tanh", "(f16 130)"),
    UNARY("tanh", "(bf16 130)"),
    UNARY("tanh", "(f64 130)"),
    UNARY("neg", "(i32 130)"),
    UNARY("not", "(bool 130)"),
    BINARY("ewadd", "(f32 3 700)"),
    BINARY("ewmul", "(i64 3 70)"),
    BINARY("sub", "(f32 9)"),
    BINARY("div", "(f32 9)"),
    BINARY("max", "(f32 600)"),
    BINARY("min", "(f16 600)"),
    BINARY("less", "(f32 600)"),
    BINARY("less", "(i32 60)"),
    BINARY("ewadd", "(u8 60)"),
    "(graph " X2("(bool 30)", "(f32 30)") "(let e (exp y)) (let z (where x y e)) (output z))",
    "(graph (let x (input 0) (f32 0 3)) (let z (relu x)) (output z))",
    // views
    "(graph " X1("(f32 6 10)") "(let t (transpose :perm 1 0 x)) (let z (exp t)) (output z t))",
    "(graph " X1("(f32 40 60)") "(let z (transpose :perm 1 0 x)) (output z))",
    "(graph " X1("(f32 3 40 5 60)") "(let z (transpose :perm 3 0 2 1 x)) (output z))",
    "(graph " X1("(i64 3 40 5)") "(let z (transpose :perm 2 0 1 x)) (output z))",
    "(graph " X1("(u8 33 40)") "(let z (transpose :perm 1 0 x)) (output z))",
    "(graph " X1("(f32 6 10)") "(let s (slice :start 1 8 :size 3 4 :step 2 -2 x)) (let z (neg s)) (output z s))",
    "(graph " X1("(f32 6 10)") "(let (a b c) (split 1 :sizes 3 3 4 x)) (let z (sub a b)) (output z c))",
    "(graph " X2("(f32 6 1 5)", "(f32 4 1)") "(let a (broadcast :shape 2 6 4 5 x)) (let b (broadcast :shape 2 6 4 5 y))"
                                             "(let z (ewmul a b)) (output z))",
    "(graph " X1("(f32 2 3 4 5)") "(let t (transpose :perm 0 2 1 3 x)) (let r (reshape :shape 8 15 t)) (output r))",
    "(graph " X1("(f32 2 12)") "(let r (reshape :shape 2 3 4 x)) (let t (transpose :perm 2 0 1 r))"
                               "(let s (reshape :shape 4 6 t)) (let z (exp s)) (output z s))",
    "(graph " X1("(f32 3 4)") "(output x x))",
    "(graph " X1("(f32 3 4)") "(let z (relu x)) (output z z))",
    "(graph " W1("(f32 3 4)") "(let z (relu w)) (output z w))",
    // groups of element-wise operators
    "(graph " X2("(f32 4 50)",
                 "(f32 4 50)") "(let a (sigmoid x)) (let b (tanh y)) (let c (ewmul a b)) (let d (ewadd c x))"
                               "(let e (relu d)) (let s (reducesum :axes 1 :keepdims 1 e)) (let t (broadcast :shape 4 "
                               "50 s)) (let f (div e t))"
                               "(output f c))",
    "(graph " X1("(f32 4 600)") "(let a (exp x)) (let b (transpose :perm 1 0 a)) (let c (tanh a))"
                                "(let d (transpose :perm 1 0 c)) (let e (sub b d)) (output e))",
    "(graph " X1("(f32 4 6)")
        W1("(f32)") "(let a (smul x w)) (let b (broadcast :shape 4 6 w)) (let c (pow a b)) (output a))",
    "(graph " X1("(i64 9)") "(let a (cast :to f32 x)) (let b (sigmoid a)) (let c (cast :to i32 b)) (output b c))",
    "(graph " X1(
        "(f32 9)") "(let a (cast :to f16 x)) (let b (cast :to bool a)) (let c (cast :to bf16 b)) (output a b c))",
    // reductions and stages
    "(graph " X1("(f32 5 7 300)") "(let z (reducesum :axes 2 x)) (output z))",
    "(graph " X1("(f32 5 7 300)") "(let z (reducemean :axes 1 :keepdims 0 x)) (output z))",
    "(graph " X1("(f32 5 7 30)") "(let z (reducemax :axes 0 2 x)) (output z))",
    "(graph " X1("(f32 5 7 30)") "(let z (reducemin :axes 0 1 2 x)) (output z))",
    "(graph " X1("(f32 5 3)") "(let z (reduceprod :axes 0 x)) (output z))",
    "(graph " X1("(f32 2 600 9)") "(let z (reducesum :axes 1 x)) (output z))",
    "(graph " X1("(f16 5 70)") "(let z (reducesum :axes 1 x)) (output z))",
    "(graph " X1("(i32 5 70)") "(let z (reducesum :axes 0 x)) (output z))",
    UNARY("softmax 2", "(f32 2 9 130)"),
    UNARY("softmax 2", "(f32 2 9 1300)"),
    // what is repeated along a short inner axis, in blocks of several rows
    "(graph " X1("(f32 70 33)") W1("(f32 33)") "(let b (broadcast :shape 70 33 w)) (let m (ewmul x b))"
                                               "(let z (sigmoid m)) (output z m))",
    "(graph " X2("(f32 3 65 20)", "(f32 3 20)") "(let r (reshape :shape 3 1 20 y))"
                                                "(let b (broadcast :shape 3 65 20 r)) (let z (ewadd x b)) (output z))",
    "(graph " X2("(f16 2 65 20)", "(f16 20)") "(let b (broadcast :shape 2 65 20 y)) (let z (ewadd x b)) (output z))",
    UNARY("softmax 1", "(f32 2 9 13)"),
    UNARY("softmax 0", "(f32 700)"),
    UNARY("logsoftmax 1", "(f32 20 9)"),
    "(graph " X1("(f32 3 5 64)") W2("(f32 64)", "(f32 64)") "(let z (layernorm 2 x w v)) (output z))",
    "(graph " X1("(f32 30 64)") W1("(f32 64)") "(let z (rmsnorm 1 x w)) (output z))",
    "(graph " X1("(f32 2 6 5 5)") W2("(f32 6)", "(f32 6)") "(let z (instancenorm x w v)) (output z))",
    "(graph " X1("(f32 2 6 5 5)") W2("(f32 6)", "(f32 6)") "(let z (groupnorm 3 x w v)) (output z))",
    "(graph " X1("(f32 2 6 5 5)") W2("(f32 6)", "(f32 6)") "(let e (exp w)) (let z (batchnorm x w v v e)) (output z))",
    // matrix products
    "(graph " X1("(f32 5 16)") W1("(f32 16 9)") "(let z (matmul :act relu x w)) (output z))",
    "(graph " X1("(f32 2 5 16)") W2("(f32 16 9)", "(f32 9)") "(let m (matmul x w)) (let b (broadcast :shape 2 5 9 v))"
                                                             "(let a (ewadd m b)) (let z (gelu a)) (output z))",
    "(graph " X2("(f32 2 5 16)", "(f32 2 5 9)")
        W1("(f32 16 9)") "(let m (matmul x w)) (let a (ewadd m y)) (let z (relu a))"
                         "(output z))",
    "(graph " X1("(f32 16 5)") W1("(f32 9 16)") "(let t (transpose :perm 1 0 x)) (let u (transpose :perm 1 0 w))"
                                                "(let z (matmul t u)) (output z))",
    "(graph " X1("(f32 4 40)") W1("(f32 10 7)") "(let (a b) (split 1 :sizes 10 30 x)) (let z (matmul a w)) (output z))",
    "(graph " X1("(f32 1 40)") W1("(f32 30 7)") "(let (a b) (split 1 :sizes 10 30 x)) (let m (matmul b w))"
                                                "(let s (sigmoid m)) (let z (ewmul s s)) (output z))",
    "(graph " X1("(f32 1 37)") W2("(f32 37 133)", "(f32 133)") "(let m (matmul x w)) (let b (broadcast :shape 1 133 v))"
                                                               "(let a (ewadd m b)) (let z (gelu a)) (output z m))",
    "(graph " X1("(f32 1 1 30)") W1("(f32 4200 30)") "(let t (transpose :perm 1 0 w)) (let z (matmul :act relu x t))"
                                                     "(let s (softmax 2 z)) (output z s))",
    "(graph " X1("(f32 1 3)") W1("(f32 3 70000)") "(let z (matmul x w)) (output z))",
    "(graph " X1("(f16 1 16)") W1("(f16 16 9)") "(let z (matmul x w)) (output z))",
    "(graph " X2("(f32 3 2 5 16)", "(f32 3 2 16 7)") "(let z (matmul x y)) (output z))",
    "(graph " X2("(f32 3 2 5 16)", "(f32 3 2 7 16)")
        W1("(f32)") "(let t (transpose :perm 0 1 3 2 y)) (let m (matmul x t))"
                    "(let b (broadcast :shape 3 2 5 7 w)) (let d (ewmul m b)) (let z (softmax 3 d)) (output z))",
    "(graph " X1("(f32 2 8 32)") "(let r (reshape :shape 2 8 4 8 x)) (let q (transpose :perm 0 2 1 3 r))"
                                 "(let k (transpose :perm 0 2 3 1 r)) (let s (matmul q k)) (let p (softmax 3 s)) (let "
                                 "c (matmul p q))"
                                 "(let t (transpose :perm 0 2 1 3 c)) (let z (reshape :shape 2 8 32 t)) (output z))",
    "(graph " X2("(f32 5 16)", "(f32 16 9)") "(let z (matmul :act relu x y)) (output z))",
    "(graph " X2("(f32 6 5 16)", "(f32 16 9)") "(let m (matmul x y)) (let z (tanh m)) (output z))",
    "(graph " X2("(f32 1 600)", "(f32 600 9)") "(let m (matmul x y)) (let z (ewadd m m)) (output z))",
    "(graph " X1("(f16 5 16)") W1("(f16 16 9)") "(let z (matmul x w)) (output z))",
    "(graph " X1("(f64 5 16)") W1("(f64 16 9)") "(let z (matmul x w)) (output z))",
    "(graph " X2("(i32 5 16)", "(i32 16 9)") "(let z (matmul x y)) (output z))",
    // convolutions
    "(graph " X1("(f32 1 3 17 17)")
        W1("(f32 8 3 3 3)") "(let z (conv :stride 2 2 :pad 1 1 1 1 :act relu x w)) (output z))",
    "(graph " X1("(f32 2 16 9 9)")
        W2("(f32 32 16 1 1)",
           "(f32 32)") "(let c (conv x w)) (let r (reshape :shape 32 1 1 v))"
                       "(let b (broadcast :shape 2 32 9 9 r)) (let a (ewadd c b)) (let z (relu a)) (output z))",
    "(graph " X1("(f32 2 16 9 9)")
        W2("(f32 16 16 3 3)",
           "(f32 16)") "(let c (conv :pad 1 1 1 1 x w))"
                       "(let r (reshape :shape 16 1 1 v)) (let b (broadcast :shape 2 16 9 9 r)) (let a (ewadd c b)) "
                       "(let s (ewadd a x))"
                       "(let z (relu s)) (let p (poolmax :kernel 3 3 :stride 2 2 :pad 1 1 1 1 z)) (let d (conv :pad 1 "
                       "1 1 1 p w))"
                       "(let q (concat 1 p d)) (let m (reducemean :axes 2 3 :keepdims 0 q)) (output m d))",
    "(graph " X1("(f32 1 12 8 8)")
        W1("(f32 12 1 3 3)") "(let c (conv :pad 1 1 1 1 :group 12 x w)) (let z (silu c)) (output z))",
    "(graph " X1("(f32 1 12 8 8)") W1("(f32 24 4 3 3)") "(let c (conv :pad 0 1 2 1 :group 3 :dilation 1 2 x w))"
                                                        "(let z (hardswish c)) (output z))",
    "(graph " X1("(f32 1 12 8 8)") W1("(f32 24 4 3 3)") "(let c (conv :pad 1 1 1 1 :group 3 x w))"
                                                        "(let z (hardsigmoid :alpha 0.9 :beta 0.3 c)) (output z))",
    "(graph " X1("(f32 8 16)")
        W1("(f32 16 32)") "(let m (matmul x w)) (let a (clip :min -0.9 :max 0.9 m)) (let b (tanh a))"
                          "(let z (clip :min -0.4 :max 0.4 b)) (output z))",
    "(graph " X1("(f32 8 16)") W1("(f32 16 32)") "(let m (matmul x w)) (let z (hardsigmoid m)) (output z))",
    "(graph " X1("(f32 2 5 30)") W1("(f32 6 5 4)") "(let z (conv :stride 2 :pad 1 2 x w)) (output z))",
    "(graph " X1("(f32 1 3 6 7 8)") W1("(f32 4 3 2 3 3)") "(let z (conv x w)) (output z))",
    "(graph " X2("(f32 1 4 8 8)", "(f32 6 4 3 3)") "(let z (conv x y)) (output z))",
    "(graph " X1("(f16 1 4 8 8)") W1("(f16 6 4 3 3)") "(let z (conv :act relu x w)) (output z))",
    "(graph " X1("(f64 1 4 8 8)") W1("(f64 6 4 3 3)") "(let z (conv x w)) (output z))",
    "(graph " X1("(f32 1 4 8 8)")
        W1("(f32 4 4 3 3)") "(let e (enlarge :kernel 5 5 w)) (let c (conv :pad 2 2 2 2 x e))"
                            "(let z (ewmul c c)) (let t (transpose :perm 0 2 3 1 z)) (output t))",
    "(graph " X1("(f32 1 8 6 6)") W1("(f32 8 2 3 3)") "(let m (merge 4 2 w)) (let z (conv :group 2 x m)) (output z))",
    "(graph " X1("(f32 2 8 7 7)") W1("(f32 8 8 1 1)") "(let c (conv x w)) (let f (reshape :shape 2 392 c)) (output f))",
    "(graph " X1("(f32 1 8 7 7)") W1("(f32 24 8 1 1)") "(let c (conv x w)) (let (a b) (split 1 :sizes 16 8 c))"
                                                       "(let r (relu a)) (let d (conv b w)) (output r d))",
    // pooling
    "(graph " X1(
        "(f32 2 20 11 11)") "(let a (poolavg :kernel 3 3 :pad 1 1 1 1 x))"
                            "(let b (poolavg :kernel 3 3 :stride 2 2 :pad 1 1 1 1 :padding counted x)) (output a b))",
    "(graph " X1("(f32 2 5 11 11)") "(let a (poolmax :kernel 2 3 :stride 2 1 :dilation 2 1 :act relu x))"
                                    "(let b (poolmax :kernel 2 3 :stride 2 1 :dilation 2 1 x)) (output a b))",
    "(graph " X1("(f32 2 20 7 7)") "(let a (poolavg :kernel 7 7 x)) (let f (reshape :shape 2 20 a)) (output f))",
    "(graph " X1("(f32 2 5 11)") "(let a (poolmax :kernel 3 x)) (output a))",
    "(graph " X1("(f16 2 5 11)") "(let a (poolavg :kernel 3 x)) (output a))",
    "(graph " X1("(i32 2 5 11)") "(let a (poolmax :kernel 3 x)) (output a))",
    "(graph " X1("(f32 2 20 5 6)") "(let z (lrn 5 :alpha 0.1 :beta 0.75 :bias 2.0 x)) (output z))",
    // moving
    "(graph " X2("(f32 2 3 4)", "(f32 2 5 4)") "(let c (concat 1 x y x)) (let z (relu c)) (output z c))",
    "(graph " X2("(i64 3)", "(i64 5)") "(let z (concat 0 x y)) (output z))",
    "(graph " X1("(f32 2 3 4)") "(let z (pad :pads 0 1 2 1 0 -1 :value 0.5 x)) (output z))",
    "(graph " X1("(i32 2 3 4)") "(let z (pad :pads 0 1 2 1 0 1 x)) (output z))",
    "(graph " X2("(f32 5 8 4)", "(i64 2 3)") "(let z (gather x y)) (let e (gather :axis 1 x y)) (output z e))",
    "(graph " X2("(f32 5 8)", "(i32 5 8)") "(let z (gatherelements :axis 1 x y)) (output z))",
    "(graph " X1("(f32 4 30)") "(let z (argmax 1 x)) (output z))",
    "(graph " X1("(f32 4 30)") "(let z (cumsum 1 x)) (output z))",
};
