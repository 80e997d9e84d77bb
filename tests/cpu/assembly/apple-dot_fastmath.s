__ZN4kerndot_fastmathE:
	sub	sp, sp, #48
	stp	x20, x19, [sp, #16]
	stp	x29, x30, [sp, #32]
	ldr	x8, [sp, #56]
	cbz	x2, LBB0_2
	mov	w9, #1
	ldadd	x9, x9, [x2]
LBB0_2:
	cbz	x8, LBB0_4
	mov	w9, #1
	ldadd	x9, x9, [x8]
LBB0_4:
	cmp	x4, #1
	b.lt	LBB0_7
	ldr	x9, [sp, #88]
	cmp	x4, #4
	b.hs	LBB0_8
	mov	x10, #0
	movi.2d	v2, #0000000000000000
	b	LBB0_17
LBB0_7:
	movi.2d	v2, #0000000000000000
	b	LBB0_19
LBB0_8:
	cmp	x4, #16
	b.hs	LBB0_10
	mov	x10, #0
	movi.2d	v2, #0000000000000000
	b	LBB0_14
LBB0_10:
	and	x11, x4, #0xc
	and	x10, x4, #0x7ffffffffffffff0
	add	x12, x6, #32
	add	x13, x9, #32
	movi.2d	v0, #0000000000000000
	movi.2d	v1, #0000000000000000
	and	x14, x4, #0x7ffffffffffffff0
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
LBB0_11:
	ldp	q4, q5, [x12, #-32]
	ldp	q6, q7, [x12], #64
	ldp	q16, q17, [x13, #-32]
	ldp	q18, q19, [x13], #64
	fmla.4s	v0, v16, v4
	fmla.4s	v1, v17, v5
	fmla.4s	v2, v18, v6
	fmla.4s	v3, v19, v7
	subs	x14, x14, #16
	b.ne	LBB0_11
	fadd.4s	v0, v1, v0
	fadd.4s	v1, v3, v2
	fadd.4s	v0, v1, v0
	faddp.4s	v0, v0, v0
	faddp.2s	s2, v0
	cmp	x4, x10
	b.eq	LBB0_19
	cbz	x11, LBB0_17
LBB0_14:
	mov	x12, x10
	and	x10, x4, #0x7ffffffffffffffc
	movi.2d	v0, #0000000000000000
	mov.s	v0[0], v2[0]
	sub	x11, x12, x10
	lsl	x13, x12, #2
	add	x12, x9, x13
	add	x13, x6, x13
LBB0_15:
	ldr	q1, [x13], #16
	ldr	q2, [x12], #16
	fmla.4s	v0, v2, v1
	adds	x11, x11, #4
	b.ne	LBB0_15
	faddp.4s	v0, v0, v0
	faddp.2s	s2, v0
	cmp	x4, x10
	b.eq	LBB0_19
LBB0_17:
	sub	x11, x4, x10
	lsl	x10, x10, #2
	add	x9, x9, x10
	add	x10, x6, x10
LBB0_18:
	ldr	s0, [x10], #4
	ldr	s1, [x9], #4
	fmadd	s2, s1, s0, s2
	subs	x11, x11, #1
	b.ne	LBB0_18
LBB0_19:
	cbz	x8, LBB0_21
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	LBB0_24
LBB0_21:
	cbz	x2, LBB0_23
LBB0_22:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	LBB0_25
LBB0_23:
	str	s2, [x0]
	mov	w0, #0
	ldp	x29, x30, [sp, #32]
	ldp	x20, x19, [sp, #16]
	add	sp, sp, #48
	ret
LBB0_24:
	dmb	ishld
	mov	x19, x0
	mov	x0, x8
	mov	x20, x2
	str	q2, [sp]
	bl	_NRT_MemInfo_call_dtor
	ldr	q2, [sp]
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, LBB0_22
	b	LBB0_23
LBB0_25:
	dmb	ishld
	mov	x19, x0
	mov	x0, x2
	str	q2, [sp]
	bl	_NRT_MemInfo_call_dtor
	ldr	q2, [sp]
	str	s2, [x19]
	mov	w0, #0
	ldp	x29, x30, [sp, #32]
	ldp	x20, x19, [sp, #16]
	add	sp, sp, #48
	ret

	.globl	__ZN7cpython4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE
	.p2align	2
__ZN7cpython4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE:
	.cfi_startproc
	sub	sp, sp, #224
	stp	d9, d8, [sp, #160]
	stp	x22, x21, [sp, #176]
	stp	x20, x19, [sp, #192]
	stp	x29, x30, [sp, #208]
	.cfi_def_cfa_offset 224
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	.cfi_offset w19, -24
	.cfi_offset w20, -32
	.cfi_offset w21, -40
	.cfi_offset w22, -48
	.cfi_offset b8, -56
	.cfi_offset b9, -64
	mov	x0, x1
	add	x8, sp, #144
	add	x9, sp, #152
	stp	x9, x8, [sp]
Lloh0:
	adrp	x1, _.const.dot_strict@PAGE
Lloh1:
	add	x1, x1, _.const.dot_strict@PAGEOFF
	mov	w2, #2
	mov	w3, #2
	bl	_PyArg_UnpackTuple
	cbz	w0, LBB1_37
Lloh2:
	adrp	x8, __ZN08NumbaEnv4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE@GOTPAGE
Lloh3:
	ldr	x8, [x8, __ZN08NumbaEnv4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE@GOTPAGEOFF]
Lloh4:
	ldr	x8, [x8]
	cbz	x8, LBB1_33
	ldr	x0, [sp, #152]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #80]
	str	q0, [sp, #112]
	str	xzr, [sp, #128]
	add	x1, sp, #80
	bl	_NRT_adapt_ndarray_from_python
	ldr	x8, [sp, #104]
	cmp	w0, #0
	ccmp	x8, #4, #0, eq
	b.ne	LBB1_34
	ldr	x19, [sp, #80]
	ldr	x21, [sp, #96]
	ldr	x22, [sp, #112]
	ldr	x0, [sp, #144]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #16]
	str	q0, [sp, #48]
	str	xzr, [sp, #64]
	add	x1, sp, #16
	bl	_NRT_adapt_ndarray_from_python
	cbnz	w0, LBB1_35
	ldr	x8, [sp, #40]
	cmp	x8, #4
	b.ne	LBB1_35
	ldr	x20, [sp, #16]
	ldr	x8, [sp, #48]
	cbz	x19, LBB1_7
	mov	w9, #1
	ldadd	x9, x9, [x19]
LBB1_7:
	cbz	x20, LBB1_9
	mov	w9, #1
	ldadd	x9, x9, [x20]
LBB1_9:
	cmp	x21, #1
	b.lt	LBB1_12
	cmp	x21, #4
	b.hs	LBB1_13
	mov	x9, #0
	movi.2d	v0, #0000000000000000
	b	LBB1_22
LBB1_12:
	movi.2d	v0, #0000000000000000
	b	LBB1_25
LBB1_13:
	cmp	x21, #16
	b.hs	LBB1_15
	mov	x9, #0
	movi.2d	v0, #0000000000000000
	b	LBB1_19
LBB1_15:
	and	x10, x21, #0xc
	and	x9, x21, #0x7ffffffffffffff0
	add	x11, x22, #32
	add	x12, x8, #32
	movi.2d	v0, #0000000000000000
	movi.2d	v1, #0000000000000000
	and	x13, x21, #0x7ffffffffffffff0
	movi.2d	v2, #0000000000000000
	movi.2d	v3, #0000000000000000
LBB1_16:
	ldp	q4, q5, [x11, #-32]
	ldp	q6, q7, [x11], #64
	ldp	q16, q17, [x12, #-32]
	ldp	q18, q19, [x12], #64
	fmla.4s	v0, v16, v4
	fmla.4s	v1, v17, v5
	fmla.4s	v2, v18, v6
	fmla.4s	v3, v19, v7
	subs	x13, x13, #16
	b.ne	LBB1_16
	fadd.4s	v0, v1, v0
	fadd.4s	v1, v3, v2
	fadd.4s	v0, v1, v0
	faddp.4s	v0, v0, v0
	faddp.2s	s0, v0
	cmp	x21, x9
	b.eq	LBB1_24
	cbz	x10, LBB1_22
LBB1_19:
	mov	x11, x9
	and	x9, x21, #0x7ffffffffffffffc
	movi.2d	v1, #0000000000000000
	mov.s	v1[0], v0[0]
	sub	x10, x11, x9
	lsl	x12, x11, #2
	add	x11, x8, x12
	add	x12, x22, x12
LBB1_20:
	ldr	q0, [x12], #16
	ldr	q2, [x11], #16
	fmla.4s	v1, v2, v0
	adds	x10, x10, #4
	b.ne	LBB1_20
	faddp.4s	v0, v1, v1
	faddp.2s	s0, v0
	cmp	x21, x9
	b.eq	LBB1_24
LBB1_22:
	lsl	x10, x9, #2
	add	x8, x8, x10
	add	x10, x22, x10
	sub	x9, x21, x9
LBB1_23:
	ldr	s1, [x10], #4
	ldr	s2, [x8], #4
	fmadd	s0, s2, s1, s0
	subs	x9, x9, #1
	b.ne	LBB1_23
LBB1_24:
	fcvt	d0, s0
LBB1_25:
	cbz	x20, LBB1_27
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_38
LBB1_27:
	cbz	x19, LBB1_30
LBB1_28:
	dmb	ish
	mov	x21, #-1
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_39
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_40
LBB1_30:
	cbz	x20, LBB1_32
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_41
LBB1_32:
	bl	_PyFloat_FromDouble
	ldp	x29, x30, [sp, #208]
	ldp	x20, x19, [sp, #192]
	ldp	x22, x21, [sp, #176]
	ldp	d9, d8, [sp, #160]
	add	sp, sp, #224
	ret
LBB1_33:
Lloh5:
	adrp	x0, _PyExc_RuntimeError@GOTPAGE
Lloh6:
	ldr	x0, [x0, _PyExc_RuntimeError@GOTPAGEOFF]
Lloh7:
	adrp	x1, "_.const.missing Environment: _ZN08NumbaEnv4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE"@PAGE
Lloh8:
	add	x1, x1, "_.const.missing Environment: _ZN08NumbaEnv4kern10dot_strictB2v2B60c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqICn1Wk1gKBZBVGsCAA_3d_3dE5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_37
LBB1_34:
Lloh9:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh10:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh11:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh12:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_37
LBB1_35:
Lloh13:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh14:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh15:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh16:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	cbz	x19, LBB1_37
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_42
LBB1_37:
	mov	x0, #0
	ldp	x29, x30, [sp, #208]
	ldp	x20, x19, [sp, #192]
	ldp	x22, x21, [sp, #176]
	ldp	d9, d8, [sp, #160]
	add	sp, sp, #224
	ret
LBB1_38:
	dmb	ishld
	mov	x0, x20
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	cbnz	x19, LBB1_28
	b	LBB1_30
LBB1_39:
	dmb	ishld
	mov	x0, x19
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.ne	LBB1_30
LBB1_40:
	dmb	ishld
	mov	x0, x19
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	b	LBB1_30
LBB1_41:
	dmb	ishld
	mov	x0, x20
	mov.16b	v8, v0
	bl	_NRT_MemInfo_call_dtor
	mov.16b	v0, v8
	b	LBB1_32
LBB1_42:
	dmb	ishld
	mov	x0, x19
	bl	_NRT_MemInfo_call_dtor
	b	LBB1_37
	.loh AdrpAdd	Lloh0, Lloh1
	.loh AdrpLdrGotLdr	Lloh2, Lloh3, Lloh4
	.loh AdrpAdd	Lloh7, Lloh8
	.loh AdrpLdrGot	Lloh5, Lloh6
	.loh AdrpAdd	Lloh11, Lloh12
	.loh AdrpLdrGot	Lloh9, Lloh10
	.loh AdrpAdd	Lloh15, Lloh16
	.loh AdrpLdrGot	Lloh13, Lloh14
