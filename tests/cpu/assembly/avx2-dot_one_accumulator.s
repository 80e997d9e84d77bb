_ZN4kerndot_one_accumulatorE:
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
	jle	.LBB0_5
	movq	88(%rsp), %r9
	movq	32(%rsp), %rsi
	movl	%r8d, %ecx
	andl	$7, %ecx
	cmpq	$8, %r8
	jae	.LBB0_18
	vxorps	%xmm2, %xmm2, %xmm2
	xorl	%r10d, %r10d
	jmp	.LBB0_9
.LBB0_5:
	vxorps	%xmm2, %xmm2, %xmm2
	jmp	.LBB0_11
.LBB0_18:
	movabsq	$9223372036854775800, %r10
	andq	%r10, %r8
	vxorps	%xmm2, %xmm2, %xmm2
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_19:
	vmovss	(%rsi,%r10,4), %xmm0
	vmovss	4(%rsi,%r10,4), %xmm1
	vmulss	(%r9,%r10,4), %xmm0, %xmm0
	vmulss	4(%r9,%r10,4), %xmm1, %xmm1
	vaddss	%xmm0, %xmm2, %xmm0
	vmovss	8(%rsi,%r10,4), %xmm2
	vmulss	8(%r9,%r10,4), %xmm2, %xmm2
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	12(%rsi,%r10,4), %xmm1
	vmulss	12(%r9,%r10,4), %xmm1, %xmm1
	vaddss	%xmm2, %xmm0, %xmm0
	vmovss	16(%rsi,%r10,4), %xmm2
	vmulss	16(%r9,%r10,4), %xmm2, %xmm2
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	20(%rsi,%r10,4), %xmm1
	vmulss	20(%r9,%r10,4), %xmm1, %xmm1
	vaddss	%xmm2, %xmm0, %xmm0
	vmovss	24(%rsi,%r10,4), %xmm2
	vmulss	24(%r9,%r10,4), %xmm2, %xmm2
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	28(%rsi,%r10,4), %xmm1
	vmulss	28(%r9,%r10,4), %xmm1, %xmm1
	vaddss	%xmm2, %xmm0, %xmm0
	addq	$8, %r10
	vaddss	%xmm1, %xmm0, %xmm2
	cmpq	%r10, %r8
	jne	.LBB0_19
	testq	%rcx, %rcx
	je	.LBB0_11
.LBB0_9:
	leaq	(%r9,%r10,4), %r8
	leaq	(%rsi,%r10,4), %rsi
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_10:
	vmovss	(%rsi,%r9,4), %xmm0
	vmulss	(%r8,%r9,4), %xmm0, %xmm0
	vaddss	%xmm0, %xmm2, %xmm2
	incq	%r9
	cmpq	%r9, %rcx
	jne	.LBB0_10
.LBB0_11:
	testq	%rax, %rax
	je	.LBB0_14
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_13
.LBB0_14:
	testq	%rdx, %rdx
	je	.LBB0_17
.LBB0_15:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_16
.LBB0_17:
	vmovss	%xmm2, (%rdi)
	xorl	%eax, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB0_13:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	vmovss	%xmm2, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	vmovss	4(%rsp), %xmm2
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_15
	jmp	.LBB0_17
.LBB0_16:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	vmovss	%xmm2, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	vmovss	4(%rsp), %xmm2
	movq	%rbx, %rdi
	jmp	.LBB0_17
