__ZN4kerndot_four_accumulatorsE:
	stp	d9, d8, [sp, #-48]!
	stp	x20, x19, [sp, #16]
	stp	x29, x30, [sp, #32]
	ldr	x8, [sp, #72]
	cbz	x2, LBB0_2
	mov	w9, #1
	ldadd	x9, x9, [x2]
LBB0_2:
	cbz	x8, LBB0_4
	mov	w9, #1
	ldadd	x9, x9, [x8]
LBB0_4:
	cmp	x7, #1
	b.lt	LBB0_11
	ldr	x9, [sp, #120]
	ldr	x10, [sp, #104]
	movi.2d	v0, #0000000000000000
	ldr	x11, [sp, #48]
	cmp	x7, #4
	b.hs	LBB0_16
	mov	x12, #0
LBB0_7:
	movi.2d	v1, #0000000000000000
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
LBB0_8:
	sub	x13, x7, x12
	mul	x14, x12, x11
	add	x14, x6, x14, lsl #2
	add	x14, x14, #8
	lsl	x11, x11, #2
	mul	x12, x12, x9
	add	x10, x10, x12, lsl #2
	add	x10, x10, #8
	lsl	x9, x9, #2
LBB0_9:
	ldp	s4, s5, [x14, #-8]
	ldp	s6, s7, [x10, #-8]
	fmul	s4, s4, s6
	fadd	s3, s3, s4
	fmul	s4, s5, s7
	fadd	s2, s2, s4
	ldp	s4, s5, [x14]
	ldp	s6, s7, [x10]
	fmul	s4, s4, s6
	fadd	s1, s1, s4
	fmul	s4, s5, s7
	fadd	s0, s0, s4
	add	x14, x14, x11
	add	x10, x10, x9
	subs	x13, x13, #1
	b.ne	LBB0_9
LBB0_10:
	fadd	s2, s3, s2
	fadd	s0, s1, s0
	fadd	s8, s2, s0
	cbnz	x8, LBB0_12
	b	LBB0_13
LBB0_11:
	movi.2d	v8, #0000000000000000
	cbz	x8, LBB0_13
LBB0_12:
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	LBB0_27
LBB0_13:
	cbz	x2, LBB0_15
LBB0_14:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	LBB0_28
LBB0_15:
	str	s8, [x0]
	mov	w0, #0
	ldp	x29, x30, [sp, #32]
	ldp	x20, x19, [sp, #16]
	ldp	d9, d8, [sp], #48
	ret
LBB0_16:
	mov	x12, #0
	cmp	x11, #1
	b.ne	LBB0_7
	movi.2d	v1, #0000000000000000
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
	cmp	x9, #1
	b.ne	LBB0_8
	cmp	x7, #16
	b.hs	LBB0_20
	mov	x12, #0
	b	LBB0_24
LBB0_20:
	and	x13, x7, #0xc
	and	x12, x7, #0x7ffffffffffffff0
	add	x14, x6, #32
	add	x15, x10, #32
	and	x16, x7, #0x7ffffffffffffff0
LBB0_21:
	ldp	q4, q5, [x14, #-32]
	ldp	q16, q17, [x14]
	ldp	q6, q18, [x15, #-32]
	ldp	q19, q20, [x15]
	fmul.4s	v7, v4, v6
	fmul.4s	v6, v5, v18
	fmul.4s	v5, v16, v19
	fmul.4s	v4, v17, v20
	ldur	q16, [x14, #-28]
	ldur	q17, [x14, #-12]
	ldur	q20, [x14, #4]
	ldur	q21, [x14, #20]
	ldur	q18, [x15, #-28]
	ldur	q22, [x15, #-12]
	ldur	q23, [x15, #4]
	ldur	q24, [x15, #20]
	fmul.4s	v19, v16, v18
	fmul.4s	v18, v17, v22
	fmul.4s	v17, v20, v23
	fmul.4s	v16, v21, v24
	ldur	q20, [x14, #-24]
	ldur	q21, [x14, #-8]
	ldur	q24, [x14, #8]
	ldur	q25, [x14, #24]
	ldur	q22, [x15, #-24]
	ldur	q26, [x15, #-8]
	ldur	q27, [x15, #8]
	ldur	q28, [x15, #24]
	fmul.4s	v23, v20, v22
	fmul.4s	v22, v21, v26
	fmul.4s	v21, v24, v27
	fmul.4s	v20, v25, v28
	ldur	q24, [x14, #-20]
	ldur	q25, [x14, #-4]
	ldur	q26, [x14, #12]
	ldur	q27, [x14, #28]
	ldur	q28, [x15, #-20]
	fmul.4s	v24, v24, v28
	ldur	q28, [x15, #-4]
	fmul.4s	v25, v25, v28
	ldur	q28, [x15, #12]
	fmul.4s	v26, v26, v28
	ldur	q28, [x15, #28]
	fmul.4s	v27, v27, v28
	mov	s28, v24[1]
	fadd	s0, s0, s24
	fadd	s0, s0, s28
	mov	s28, v24[2]
	fadd	s0, s0, s28
	mov	s24, v24[3]
	fadd	s0, s0, s24
	mov	s24, v25[1]
	fadd	s0, s0, s25
	fadd	s0, s0, s24
	mov	s24, v25[2]
	fadd	s0, s0, s24
	mov	s24, v25[3]
	fadd	s0, s0, s24
	mov	s24, v26[1]
	fadd	s0, s0, s26
	fadd	s0, s0, s24
	mov	s24, v26[2]
	fadd	s0, s0, s24
	mov	s24, v26[3]
	fadd	s0, s0, s24
	mov	s24, v27[1]
	fadd	s0, s0, s27
	fadd	s0, s0, s24
	mov	s24, v27[2]
	fadd	s0, s0, s24
	mov	s24, v27[3]
	fadd	s0, s0, s24
	mov	s24, v23[1]
	fadd	s1, s1, s23
	fadd	s1, s1, s24
	mov	s24, v23[2]
	fadd	s1, s1, s24
	mov	s23, v23[3]
	fadd	s1, s1, s23
	mov	s23, v22[1]
	fadd	s1, s1, s22
	fadd	s1, s1, s23
	mov	s23, v22[2]
	fadd	s1, s1, s23
	mov	s22, v22[3]
	fadd	s1, s1, s22
	mov	s22, v21[1]
	fadd	s1, s1, s21
	fadd	s1, s1, s22
	mov	s22, v21[2]
	fadd	s1, s1, s22
	mov	s21, v21[3]
	fadd	s1, s1, s21
	mov	s21, v20[1]
	fadd	s1, s1, s20
	fadd	s1, s1, s21
	mov	s21, v20[2]
	fadd	s1, s1, s21
	mov	s20, v20[3]
	fadd	s1, s1, s20
	mov	s20, v19[1]
	fadd	s2, s2, s19
	fadd	s2, s2, s20
	mov	s20, v19[2]
	fadd	s2, s2, s20
	mov	s19, v19[3]
	fadd	s2, s2, s19
	mov	s19, v18[1]
	fadd	s2, s2, s18
	fadd	s2, s2, s19
	mov	s19, v18[2]
	fadd	s2, s2, s19
	mov	s18, v18[3]
	fadd	s2, s2, s18
	mov	s18, v17[1]
	fadd	s2, s2, s17
	fadd	s2, s2, s18
	mov	s18, v17[2]
	fadd	s2, s2, s18
	mov	s17, v17[3]
	fadd	s2, s2, s17
	mov	s17, v16[1]
	fadd	s2, s2, s16
	fadd	s2, s2, s17
	mov	s17, v16[2]
	fadd	s2, s2, s17
	mov	s16, v16[3]
	fadd	s2, s2, s16
	mov	s16, v7[1]
	fadd	s3, s3, s7
	fadd	s3, s3, s16
	mov	s16, v7[2]
	fadd	s3, s3, s16
	mov	s7, v7[3]
	fadd	s3, s3, s7
	mov	s7, v6[1]
	fadd	s3, s3, s6
	fadd	s3, s3, s7
	mov	s7, v6[2]
	fadd	s3, s3, s7
	mov	s6, v6[3]
	fadd	s3, s3, s6
	mov	s6, v5[1]
	fadd	s3, s3, s5
	fadd	s3, s3, s6
	mov	s6, v5[2]
	fadd	s3, s3, s6
	mov	s5, v5[3]
	fadd	s3, s3, s5
	mov	s5, v4[1]
	fadd	s3, s3, s4
	fadd	s3, s3, s5
	mov	s5, v4[2]
	fadd	s3, s3, s5
	mov	s4, v4[3]
	fadd	s3, s3, s4
	add	x14, x14, #64
	add	x15, x15, #64
	subs	x16, x16, #16
	b.ne	LBB0_21
	cmp	x7, x12
	b.eq	LBB0_10
	cbz	x13, LBB0_8
LBB0_24:
	mov	x14, x12
	and	x12, x7, #0x7ffffffffffffffc
	sub	x13, x14, x12
	lsl	x14, x14, #2
	add	x15, x14, #8
	add	x14, x6, x15
	add	x15, x10, x15
LBB0_25:
	ldur	q4, [x14, #-8]
	ldur	q5, [x15, #-8]
	fmul.4s	v4, v4, v5
	mov	s5, v4[3]
	mov	s6, v4[2]
	mov	s7, v4[1]
	ldur	q16, [x14, #-4]
	ldur	q17, [x15, #-4]
	fmul.4s	v16, v16, v17
	mov	s17, v16[3]
	mov	s18, v16[2]
	mov	s19, v16[1]
	ldr	q20, [x14]
	ldr	q21, [x15]
	fmul.4s	v20, v20, v21
	mov	s21, v20[3]
	mov	s22, v20[2]
	mov	s23, v20[1]
	ldur	q24, [x14, #4]
	ldur	q25, [x15, #4]
	fmul.4s	v24, v24, v25
	mov	s25, v24[3]
	mov	s26, v24[2]
	mov	s27, v24[1]
	fadd	s0, s0, s24
	fadd	s0, s0, s27
	fadd	s0, s0, s26
	fadd	s0, s0, s25
	fadd	s1, s1, s20
	fadd	s1, s1, s23
	fadd	s1, s1, s22
	fadd	s1, s1, s21
	fadd	s2, s2, s16
	fadd	s2, s2, s19
	fadd	s2, s2, s18
	fadd	s2, s2, s17
	fadd	s3, s3, s4
	fadd	s3, s3, s7
	fadd	s3, s3, s6
	fadd	s3, s3, s5
	add	x14, x14, #16
	add	x15, x15, #16
	adds	x13, x13, #4
	b.ne	LBB0_25
	cmp	x7, x12
	b.ne	LBB0_8
	b	LBB0_10
LBB0_27:
	dmb	ishld
	mov	x19, x0
	mov	x0, x8
	mov	x20, x2
	bl	_NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, LBB0_14
	b	LBB0_15
LBB0_28:
	dmb	ishld
	mov	x19, x0
	mov	x0, x2
	bl	_NRT_MemInfo_call_dtor
	str	s8, [x19]
	mov	w0, #0
	ldp	x29, x30, [sp, #32]
	ldp	x20, x19, [sp, #16]
	ldp	d9, d8, [sp], #48
	ret

	.globl	__ZN7cpython4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE
	.p2align	2
__ZN7cpython4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE:
	.cfi_startproc
	sub	sp, sp, #272
	stp	d9, d8, [sp, #192]
	stp	x24, x23, [sp, #208]
	stp	x22, x21, [sp, #224]
	stp	x20, x19, [sp, #240]
	stp	x29, x30, [sp, #256]
	.cfi_def_cfa_offset 272
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	.cfi_offset w19, -24
	.cfi_offset w20, -32
	.cfi_offset w21, -40
	.cfi_offset w22, -48
	.cfi_offset w23, -56
	.cfi_offset w24, -64
	.cfi_offset b8, -72
	.cfi_offset b9, -80
	mov	x0, x1
	add	x8, sp, #176
	add	x9, sp, #184
	stp	x9, x8, [sp]
Lloh0:
	adrp	x1, _.const.dot_four@PAGE
Lloh1:
	add	x1, x1, _.const.dot_four@PAGEOFF
	mov	w2, #2
	mov	w3, #2
	bl	_PyArg_UnpackTuple
	cbz	w0, LBB1_35
Lloh2:
	adrp	x8, __ZN08NumbaEnv4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE@GOTPAGE
Lloh3:
	ldr	x8, [x8, __ZN08NumbaEnv4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE@GOTPAGEOFF]
Lloh4:
	ldr	x8, [x8]
	cbz	x8, LBB1_31
	ldr	x0, [sp, #184]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #96]
	stp	q0, q0, [sp, #128]
	str	xzr, [sp, #160]
	add	x1, sp, #96
	bl	_NRT_adapt_ndarray_from_python
	cbnz	w0, LBB1_32
	ldr	x8, [sp, #120]
	cmp	x8, #4
	b.ne	LBB1_32
	ldr	x19, [sp, #96]
	ldp	x22, x23, [sp, #128]
	ldr	x21, [sp, #144]
	ldr	x0, [sp, #176]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #16]
	stp	q0, q0, [sp, #48]
	str	xzr, [sp, #80]
	add	x1, sp, #16
	bl	_NRT_adapt_ndarray_from_python
	cbnz	w0, LBB1_33
	ldr	x8, [sp, #40]
	cmp	x8, #4
	b.ne	LBB1_33
	ldr	x20, [sp, #16]
	ldr	x9, [sp, #48]
	ldr	x8, [sp, #64]
	cbz	x19, LBB1_8
	mov	w10, #1
	ldadd	x10, x10, [x19]
LBB1_8:
	cbz	x20, LBB1_10
	mov	w10, #1
	ldadd	x10, x10, [x20]
LBB1_10:
	cmp	x23, #1
	b.lt	LBB1_17
	movi.2d	v0, #0000000000000000
	cmp	x23, #8
	b.hs	LBB1_26
	mov	x10, #0
LBB1_13:
	movi.2d	v1, #0000000000000000
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
LBB1_14:
	sub	x11, x23, x10
	mul	x12, x10, x21
	add	x12, x22, x12, lsl #2
	add	x12, x12, #8
	lsl	x13, x21, #2
	mul	x10, x10, x8
	add	x9, x9, x10, lsl #2
	add	x9, x9, #8
	lsl	x8, x8, #2
LBB1_15:
	ldp	s4, s5, [x12, #-8]
	ldp	s6, s7, [x9, #-8]
	fmul	s4, s4, s6
	fadd	s3, s3, s4
	fmul	s4, s5, s7
	fadd	s2, s2, s4
	ldp	s4, s5, [x12]
	ldp	s6, s7, [x9]
	fmul	s4, s4, s6
	fadd	s1, s1, s4
	fmul	s4, s5, s7
	fadd	s0, s0, s4
	add	x12, x12, x13
	add	x9, x9, x8
	subs	x11, x11, #1
	b.ne	LBB1_15
LBB1_16:
	fadd	s2, s3, s2
	fadd	s0, s1, s0
	fadd	s0, s2, s0
	fcvt	d0, s0
	cbnz	x20, LBB1_18
	b	LBB1_19
LBB1_17:
	movi.2d	v0, #0000000000000000
	cbz	x20, LBB1_19
LBB1_18:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_36
LBB1_19:
	cbz	x19, LBB1_22
LBB1_20:
	dmb	ish
	mov	x21, #-1
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_37
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_38
LBB1_22:
	cbz	x20, LBB1_24
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_39
LBB1_24:
	bl	_PyFloat_FromDouble
LBB1_25:
	ldp	x29, x30, [sp, #256]
	ldp	x20, x19, [sp, #240]
	ldp	x22, x21, [sp, #224]
	ldp	x24, x23, [sp, #208]
	ldp	d9, d8, [sp, #192]
	add	sp, sp, #272
	ret
LBB1_26:
	mov	x10, #0
	cmp	x21, #1
	b.ne	LBB1_13
	movi.2d	v1, #0000000000000000
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
	cmp	x8, #1
	b.ne	LBB1_14
	and	x10, x23, #0x7ffffffffffffff8
	add	x11, x22, #16
	add	x12, x9, #16
	and	x13, x23, #0x7ffffffffffffff8
LBB1_29:
	ldp	q4, q6, [x11, #-16]
	ldp	q5, q7, [x12, #-16]
	fmul.4s	v5, v4, v5
	fmul.4s	v4, v6, v7
	ldur	q6, [x11, #-12]
	ldur	q16, [x11, #4]
	ldur	q7, [x12, #-12]
	ldur	q17, [x12, #4]
	fmul.4s	v7, v6, v7
	fmul.4s	v6, v16, v17
	ldur	q16, [x11, #-8]
	ldur	q17, [x11, #8]
	ldur	q18, [x12, #-8]
	ldur	q19, [x12, #8]
	fmul.4s	v16, v16, v18
	fmul.4s	v17, v17, v19
	ldur	q18, [x11, #-4]
	ldur	q19, [x11, #12]
	ldur	q20, [x12, #-4]
	fmul.4s	v18, v18, v20
	ldur	q20, [x12, #12]
	fmul.4s	v19, v19, v20
	mov	s20, v18[1]
	fadd	s0, s0, s18
	fadd	s0, s0, s20
	mov	s20, v18[2]
	fadd	s0, s0, s20
	mov	s18, v18[3]
	fadd	s0, s0, s18
	mov	s18, v19[1]
	fadd	s0, s0, s19
	fadd	s0, s0, s18
	mov	s18, v19[2]
	fadd	s0, s0, s18
	mov	s18, v19[3]
	fadd	s0, s0, s18
	mov	s18, v16[1]
	fadd	s1, s1, s16
	fadd	s1, s1, s18
	mov	s18, v16[2]
	fadd	s1, s1, s18
	mov	s16, v16[3]
	fadd	s1, s1, s16
	mov	s16, v17[1]
	fadd	s1, s1, s17
	fadd	s1, s1, s16
	mov	s16, v17[2]
	fadd	s1, s1, s16
	mov	s16, v17[3]
	fadd	s1, s1, s16
	mov	s16, v7[1]
	fadd	s2, s2, s7
	fadd	s2, s2, s16
	mov	s16, v7[2]
	fadd	s2, s2, s16
	mov	s7, v7[3]
	fadd	s2, s2, s7
	mov	s7, v6[1]
	fadd	s2, s2, s6
	fadd	s2, s2, s7
	mov	s7, v6[2]
	fadd	s2, s2, s7
	mov	s6, v6[3]
	fadd	s2, s2, s6
	mov	s6, v5[1]
	fadd	s3, s3, s5
	fadd	s3, s3, s6
	mov	s6, v5[2]
	fadd	s3, s3, s6
	mov	s5, v5[3]
	fadd	s3, s3, s5
	mov	s5, v4[1]
	fadd	s3, s3, s4
	fadd	s3, s3, s5
	mov	s5, v4[2]
	fadd	s3, s3, s5
	mov	s4, v4[3]
	fadd	s3, s3, s4
	add	x11, x11, #32
	add	x12, x12, #32
	subs	x13, x13, #8
	b.ne	LBB1_29
	cmp	x23, x10
	b.ne	LBB1_14
	b	LBB1_16
LBB1_31:
Lloh5:
	adrp	x0, _PyExc_RuntimeError@GOTPAGE
Lloh6:
	ldr	x0, [x0, _PyExc_RuntimeError@GOTPAGEOFF]
Lloh7:
	adrp	x1, "_.const.missing Environment: _ZN08NumbaEnv4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE"@PAGE
Lloh8:
	add	x1, x1, "_.const.missing Environment: _ZN08NumbaEnv4kern8dot_fourB2v3B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedE"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_35
LBB1_32:
Lloh9:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh10:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh11:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh12:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_35
LBB1_33:
Lloh13:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh14:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh15:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh16:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	cbz	x19, LBB1_35
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_40
LBB1_35:
	mov	x0, #0
	b	LBB1_25
LBB1_36:
	dmb	ishld
	mov	x0, x20
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	cbnz	x19, LBB1_20
	b	LBB1_22
LBB1_37:
	dmb	ishld
	mov	x0, x19
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.ne	LBB1_22
LBB1_38:
	dmb	ishld
	mov	x0, x19
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	b	LBB1_22
LBB1_39:
	dmb	ishld
	mov	x0, x20
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	b	LBB1_24
LBB1_40:
	dmb	ishld
	mov	x0, x19
	bl	_NRT_MemInfo_call_dtor
	b	LBB1_35
	.loh AdrpAdd	Lloh0, Lloh1
	.loh AdrpLdrGotLdr	Lloh2, Lloh3, Lloh4
	.loh AdrpAdd	Lloh7, Lloh8
	.loh AdrpLdrGot	Lloh5, Lloh6
	.loh AdrpAdd	Lloh11, Lloh12
	.loh AdrpLdrGot	Lloh9, Lloh10
	.loh AdrpAdd	Lloh15, Lloh16
	.loh AdrpLdrGot	Lloh13, Lloh14
