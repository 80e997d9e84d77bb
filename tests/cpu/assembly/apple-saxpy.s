__ZN4kernsaxpyE:
	stp	x20, x19, [sp, #-32]!
	stp	x29, x30, [sp, #16]
	ldr	x8, [sp, #40]
	cbz	x2, LBB0_2
	mov	w9, #1
	ldadd	x9, x9, [x2]
LBB0_2:
	cbz	x8, LBB0_4
	mov	w9, #1
	ldadd	x9, x9, [x8]
LBB0_4:
	cmp	x4, #1
	b.lt	LBB0_11
	ldr	x9, [sp, #72]
	fcvt	s0, d0
	cmp	x4, #4
	b.lo	LBB0_8
	lsl	x10, x4, #2
	add	x11, x6, x10
	cmp	x9, x11
	b.hs	LBB0_16
	add	x10, x9, x10
	cmp	x6, x10
	b.hs	LBB0_16
LBB0_8:
	mov	x10, #0
LBB0_9:
	sub	x11, x4, x10
	lsl	x10, x10, #2
	add	x9, x9, x10
	add	x10, x6, x10
LBB0_10:
	ldr	s1, [x10], #4
	fmul	s1, s1, s0
	ldr	s2, [x9]
	fadd	s1, s1, s2
	str	s1, [x9], #4
	subs	x11, x11, #1
	b.ne	LBB0_10
LBB0_11:
	cbz	x8, LBB0_13
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	LBB0_25
LBB0_13:
	cbz	x2, LBB0_15
LBB0_14:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	LBB0_26
LBB0_15:
	str	xzr, [x0]
	mov	w0, #0
	ldp	x29, x30, [sp, #16]
	ldp	x20, x19, [sp], #32
	ret
LBB0_16:
	cmp	x4, #16
	b.hs	LBB0_18
	mov	x10, #0
	b	LBB0_22
LBB0_18:
	and	x11, x4, #0xc
	and	x10, x4, #0x7ffffffffffffff0
	add	x12, x6, #32
	add	x13, x9, #32
	and	x14, x4, #0x7ffffffffffffff0
LBB0_19:
	ldp	q1, q2, [x12, #-32]
	ldp	q3, q4, [x12], #64
	fmul.4s	v1, v1, v0[0]
	fmul.4s	v2, v2, v0[0]
	fmul.4s	v3, v3, v0[0]
	fmul.4s	v4, v4, v0[0]
	ldp	q5, q6, [x13, #-32]
	ldp	q7, q16, [x13]
	fadd.4s	v1, v1, v5
	fadd.4s	v2, v2, v6
	fadd.4s	v3, v3, v7
	fadd.4s	v4, v4, v16
	stp	q1, q2, [x13, #-32]
	stp	q3, q4, [x13], #64
	subs	x14, x14, #16
	b.ne	LBB0_19
	cmp	x4, x10
	b.eq	LBB0_11
	cbz	x11, LBB0_9
LBB0_22:
	mov	x12, x10
	and	x10, x4, #0x7ffffffffffffffc
	sub	x11, x12, x10
	lsl	x13, x12, #2
	add	x12, x9, x13
	add	x13, x6, x13
LBB0_23:
	ldr	q1, [x13], #16
	fmul.4s	v1, v1, v0[0]
	ldr	q2, [x12]
	fadd.4s	v1, v1, v2
	str	q1, [x12], #16
	adds	x11, x11, #4
	b.ne	LBB0_23
	cmp	x4, x10
	b.eq	LBB0_11
	b	LBB0_9
LBB0_25:
	dmb	ishld
	mov	x19, x0
	mov	x0, x8
	mov	x20, x2
	bl	_NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, LBB0_14
	b	LBB0_15
LBB0_26:
	dmb	ishld
	mov	x19, x0
	mov	x0, x2
	bl	_NRT_MemInfo_call_dtor
	str	xzr, [x19]
	mov	w0, #0
	ldp	x29, x30, [sp, #16]
	ldp	x20, x19, [sp], #32
	ret

	.globl	__ZN7cpython4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE
	.p2align	2
__ZN7cpython4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE:
	.cfi_startproc
	sub	sp, sp, #240
	stp	d9, d8, [sp, #176]
	stp	x22, x21, [sp, #192]
	stp	x20, x19, [sp, #208]
	stp	x29, x30, [sp, #224]
	.cfi_def_cfa_offset 240
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	.cfi_offset w19, -24
	.cfi_offset w20, -32
	.cfi_offset w21, -40
	.cfi_offset w22, -48
	.cfi_offset b8, -56
	.cfi_offset b9, -64
	mov	x0, x1
	add	x8, sp, #152
	str	x8, [sp, #16]
	add	x8, sp, #160
	add	x9, sp, #168
	stp	x9, x8, [sp]
Lloh0:
	adrp	x1, _.const.saxpy32@PAGE
Lloh1:
	add	x1, x1, _.const.saxpy32@PAGEOFF
	mov	w2, #3
	mov	w3, #3
	bl	_PyArg_UnpackTuple
	cbz	w0, LBB1_40
Lloh2:
	adrp	x8, __ZN08NumbaEnv4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE@GOTPAGE
Lloh3:
	ldr	x8, [x8, __ZN08NumbaEnv4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE@GOTPAGEOFF]
Lloh4:
	ldr	x8, [x8]
	cbz	x8, LBB1_36
	ldr	x0, [sp, #168]
	bl	_PyNumber_Float
	mov	x19, x0
	bl	_PyFloat_AsDouble
	mov.16b	v8, v0
	mov	x0, x19
	bl	_Py_DecRef
	bl	_PyErr_Occurred
	cbnz	x0, LBB1_40
	ldr	x0, [sp, #160]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #96]
	str	q0, [sp, #128]
	str	xzr, [sp, #144]
	add	x1, sp, #96
	bl	_NRT_adapt_ndarray_from_python
	cbnz	w0, LBB1_37
	ldr	x8, [sp, #120]
	cmp	x8, #4
	b.ne	LBB1_37
	ldr	x19, [sp, #96]
	ldr	x21, [sp, #112]
	ldr	x22, [sp, #128]
	ldr	x0, [sp, #152]
	movi.2d	v0, #0000000000000000
	stp	q0, q0, [sp, #32]
	str	q0, [sp, #64]
	str	xzr, [sp, #80]
	add	x1, sp, #32
	bl	_NRT_adapt_ndarray_from_python
	cbnz	w0, LBB1_38
	ldr	x8, [sp, #56]
	cmp	x8, #4
	b.ne	LBB1_38
	ldr	x20, [sp, #32]
	ldr	x8, [sp, #64]
	cbz	x19, LBB1_9
	mov	w9, #1
	ldadd	x9, x9, [x19]
LBB1_9:
	cbz	x20, LBB1_11
	mov	w9, #1
	ldadd	x9, x9, [x20]
LBB1_11:
	cmp	x21, #1
	b.lt	LBB1_18
	fcvt	s0, d8
	cmp	x21, #4
	b.lo	LBB1_15
	lsl	x9, x21, #2
	add	x10, x22, x9
	cmp	x8, x10
	b.hs	LBB1_27
	add	x9, x8, x9
	cmp	x22, x9
	b.hs	LBB1_27
LBB1_15:
	mov	x9, #0
LBB1_16:
	lsl	x10, x9, #2
	add	x8, x8, x10
	add	x10, x22, x10
	sub	x9, x21, x9
LBB1_17:
	ldr	s1, [x10], #4
	fmul	s1, s1, s0
	ldr	s2, [x8]
	fadd	s1, s1, s2
	str	s1, [x8], #4
	subs	x9, x9, #1
	b.ne	LBB1_17
LBB1_18:
	cbz	x20, LBB1_20
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_41
LBB1_20:
	cbz	x19, LBB1_23
LBB1_21:
	dmb	ish
	mov	x21, #-1
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_42
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_43
LBB1_23:
	cbz	x20, LBB1_25
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x20]
	cmp	x8, #1
	b.eq	LBB1_44
LBB1_25:
Lloh5:
	adrp	x19, __Py_NoneStruct@GOTPAGE
Lloh6:
	ldr	x19, [x19, __Py_NoneStruct@GOTPAGEOFF]
	mov	x0, x19
	bl	_Py_IncRef
LBB1_26:
	mov	x0, x19
	ldp	x29, x30, [sp, #224]
	ldp	x20, x19, [sp, #208]
	ldp	x22, x21, [sp, #192]
	ldp	d9, d8, [sp, #176]
	add	sp, sp, #240
	ret
LBB1_27:
	cmp	x21, #16
	b.hs	LBB1_29
	mov	x9, #0
	b	LBB1_33
LBB1_29:
	and	x10, x21, #0xc
	and	x9, x21, #0x7ffffffffffffff0
	add	x11, x22, #32
	add	x12, x8, #32
	and	x13, x21, #0x7ffffffffffffff0
LBB1_30:
	ldp	q1, q2, [x11, #-32]
	ldp	q3, q4, [x11], #64
	fmul.4s	v1, v1, v0[0]
	fmul.4s	v2, v2, v0[0]
	fmul.4s	v3, v3, v0[0]
	fmul.4s	v4, v4, v0[0]
	ldp	q5, q6, [x12, #-32]
	ldp	q7, q16, [x12]
	fadd.4s	v1, v1, v5
	fadd.4s	v2, v2, v6
	fadd.4s	v3, v3, v7
	fadd.4s	v4, v4, v16
	stp	q1, q2, [x12, #-32]
	stp	q3, q4, [x12], #64
	subs	x13, x13, #16
	b.ne	LBB1_30
	cmp	x21, x9
	b.eq	LBB1_18
	cbz	x10, LBB1_16
LBB1_33:
	mov	x11, x9
	and	x9, x21, #0x7ffffffffffffffc
	sub	x10, x11, x9
	lsl	x12, x11, #2
	add	x11, x8, x12
	add	x12, x22, x12
LBB1_34:
	ldr	q1, [x12], #16
	fmul.4s	v1, v1, v0[0]
	ldr	q2, [x11]
	fadd.4s	v1, v1, v2
	str	q1, [x11], #16
	adds	x10, x10, #4
	b.ne	LBB1_34
	cmp	x21, x9
	b.eq	LBB1_18
	b	LBB1_16
LBB1_36:
Lloh7:
	adrp	x0, _PyExc_RuntimeError@GOTPAGE
Lloh8:
	ldr	x0, [x0, _PyExc_RuntimeError@GOTPAGEOFF]
Lloh9:
	adrp	x1, "_.const.missing Environment: _ZN08NumbaEnv4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE"@PAGE
Lloh10:
	add	x1, x1, "_.const.missing Environment: _ZN08NumbaEnv4kern7saxpy32B2v4B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dEd5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi1E1C7mutable7alignedE"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_40
LBB1_37:
Lloh11:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh12:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh13:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh14:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	b	LBB1_40
LBB1_38:
Lloh15:
	adrp	x0, _PyExc_TypeError@GOTPAGE
Lloh16:
	ldr	x0, [x0, _PyExc_TypeError@GOTPAGEOFF]
Lloh17:
	adrp	x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGE
Lloh18:
	add	x1, x1, "_.const.can't unbox array from PyObject into native value.  The object maybe of a different type"@PAGEOFF
	bl	_PyErr_SetString
	cbz	x19, LBB1_26
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x19]
	cmp	x8, #1
	b.eq	LBB1_45
LBB1_40:
	mov	x19, #0
	b	LBB1_26
LBB1_41:
	dmb	ishld
	mov	x0, x20
	bl	_NRT_MemInfo_call_dtor
	cbnz	x19, LBB1_21
	b	LBB1_23
LBB1_42:
	dmb	ishld
	mov	x0, x19
	bl	_NRT_MemInfo_call_dtor
	dmb	ish
	ldadd	x21, x8, [x19]
	cmp	x8, #1
	b.ne	LBB1_23
LBB1_43:
	dmb	ishld
	mov	x0, x19
	bl	_NRT_MemInfo_call_dtor
	b	LBB1_23
LBB1_44:
	dmb	ishld
	mov	x0, x20
	bl	_NRT_MemInfo_call_dtor
	b	LBB1_25
LBB1_45:
	dmb	ishld
	mov	x0, x19
	bl	_NRT_MemInfo_call_dtor
	b	LBB1_40
	.loh AdrpAdd	Lloh0, Lloh1
	.loh AdrpLdrGotLdr	Lloh2, Lloh3, Lloh4
	.loh AdrpLdrGot	Lloh5, Lloh6
	.loh AdrpAdd	Lloh9, Lloh10
	.loh AdrpLdrGot	Lloh7, Lloh8
	.loh AdrpAdd	Lloh13, Lloh14
	.loh AdrpLdrGot	Lloh11, Lloh12
	.loh AdrpAdd	Lloh17, Lloh18
	.loh AdrpLdrGot	Lloh15, Lloh16
