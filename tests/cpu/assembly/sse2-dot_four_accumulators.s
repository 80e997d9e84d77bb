_ZN4kerndot_four_accumulatorsE:
	pushq	%r14
	pushq	%rbx
	pushq	%rax
	movq	72(%rsp), %rax
	testq	%rdx, %rdx
	je	.LBB0_2
	lock		incq	(%rdx)
.LBB0_2:
	movq	40(%rsp), %rcx
	testq	%rax, %rax
	je	.LBB0_4
	lock		incq	(%rax)
.LBB0_4:
	testq	%rcx, %rcx
	jle	.LBB0_5
	movq	120(%rsp), %rsi
	movq	104(%rsp), %r8
	movq	48(%rsp), %r9
	movq	32(%rsp), %r10
	addq	$12, %r8
	shlq	$2, %rsi
	addq	$12, %r10
	shlq	$2, %r9
	xorps	%xmm5, %xmm5
	xorps	%xmm0, %xmm0
	xorps	%xmm2, %xmm2
	xorps	%xmm1, %xmm1
	.p2align	4
.LBB0_15:
	movss	-12(%r10), %xmm3
	mulss	-12(%r8), %xmm3
	movss	-8(%r10), %xmm4
	addss	%xmm3, %xmm1
	mulss	-8(%r8), %xmm4
	addss	%xmm4, %xmm2
	movss	-4(%r10), %xmm3
	mulss	-4(%r8), %xmm3
	addss	%xmm3, %xmm5
	movss	(%r10), %xmm3
	mulss	(%r8), %xmm3
	addss	%xmm3, %xmm0
	addq	%rsi, %r8
	addq	%r9, %r10
	decq	%rcx
	jne	.LBB0_15
	addss	%xmm2, %xmm1
	addss	%xmm0, %xmm5
	addss	%xmm1, %xmm5
	testq	%rax, %rax
	jne	.LBB0_8
	jmp	.LBB0_10
.LBB0_5:
	xorps	%xmm5, %xmm5
	testq	%rax, %rax
	je	.LBB0_10
.LBB0_8:
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_9
.LBB0_10:
	testq	%rdx, %rdx
	je	.LBB0_13
.LBB0_11:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_12
.LBB0_13:
	movss	%xmm5, (%rdi)
	xorl	%eax, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB0_9:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	movss	%xmm5, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movss	4(%rsp), %xmm5
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_11
	jmp	.LBB0_13
.LBB0_12:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	movss	%xmm5, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movss	4(%rsp), %xmm5
	movq	%rbx, %rdi
	jmp	.LBB0_13
