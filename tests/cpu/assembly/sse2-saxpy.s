_ZN4kernsaxpyE:
	pushq	%r14
	pushq	%rbx
	pushq	%rax
	movq	56(%rsp), %rax
	testq	%rdx, %rdx
	je	.LBB0_2
	lock		incq	(%rdx)
.LBB0_2:
	testq	%rax, %rax
	je	.LBB0_4
	lock		incq	(%rax)
.LBB0_4:
	testq	%r8, %r8
	jle	.LBB0_16
	movq	88(%rsp), %rcx
	movq	32(%rsp), %rsi
	cvtsd2ss	%xmm0, %xmm0
	cmpq	$8, %r8
	jb	.LBB0_6
	leaq	(%rcx,%r8,4), %r9
	leaq	(%rsi,%r8,4), %r10
	cmpq	%r10, %rcx
	setb	%r10b
	cmpq	%r9, %rsi
	setb	%r9b
	testb	%r9b, %r10b
	je	.LBB0_9
.LBB0_6:
	xorl	%r9d, %r9d
.LBB0_12:
	movq	%r9, %r10
	orq	$1, %r10
	testb	$1, %r8b
	je	.LBB0_14
	movss	(%rsi,%r9,4), %xmm1
	mulss	%xmm0, %xmm1
	addss	(%rcx,%r9,4), %xmm1
	movss	%xmm1, (%rcx,%r9,4)
	movq	%r10, %r9
.LBB0_14:
	cmpq	%r10, %r8
	je	.LBB0_16
	.p2align	4
.LBB0_15:
	movss	(%rsi,%r9,4), %xmm1
	mulss	%xmm0, %xmm1
	addss	(%rcx,%r9,4), %xmm1
	movss	%xmm1, (%rcx,%r9,4)
	movss	4(%rsi,%r9,4), %xmm1
	mulss	%xmm0, %xmm1
	addss	4(%rcx,%r9,4), %xmm1
	movss	%xmm1, 4(%rcx,%r9,4)
	addq	$2, %r9
	cmpq	%r9, %r8
	jne	.LBB0_15
	jmp	.LBB0_16
.LBB0_9:
	movabsq	$9223372036854775800, %r9
	andq	%r8, %r9
	movaps	%xmm0, %xmm1
	shufps	$0, %xmm0, %xmm1
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_10:
	movups	(%rsi,%r10,4), %xmm2
	movups	16(%rsi,%r10,4), %xmm3
	mulps	%xmm1, %xmm2
	mulps	%xmm1, %xmm3
	movups	(%rcx,%r10,4), %xmm4
	addps	%xmm2, %xmm4
	movups	16(%rcx,%r10,4), %xmm2
	addps	%xmm3, %xmm2
	movups	%xmm4, (%rcx,%r10,4)
	movups	%xmm2, 16(%rcx,%r10,4)
	addq	$8, %r10
	cmpq	%r10, %r9
	jne	.LBB0_10
	cmpq	%r9, %r8
	jne	.LBB0_12
.LBB0_16:
	testq	%rax, %rax
	je	.LBB0_18
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_21
.LBB0_18:
	testq	%rdx, %rdx
	je	.LBB0_20
.LBB0_19:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_22
.LBB0_20:
	movq	$0, (%rdi)
	xorl	%eax, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB0_21:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	callq	NRT_MemInfo_call_dtor@PLT
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_19
	jmp	.LBB0_20
.LBB0_22:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	callq	NRT_MemInfo_call_dtor@PLT
	movq	%rbx, %rdi
	jmp	.LBB0_20
