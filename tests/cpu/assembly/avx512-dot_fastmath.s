_ZN4kerndot_fastmathE:
	pushq	%r14
	pushq	%rbx
	subq	$24, %rsp
	movq	72(%rsp), %rax
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
	movq	104(%rsp), %rcx
	movq	48(%rsp), %rsi
	cmpq	$8, %r8
	jae	.LBB0_9
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%r9d, %r9d
	jmp	.LBB0_8
.LBB0_5:
	vxorps	%xmm1, %xmm1, %xmm1
	jmp	.LBB0_19
.LBB0_9:
	movabsq	$9223372036854775744, %r10
	cmpq	$64, %r8
	jae	.LBB0_11
	vxorps	%xmm1, %xmm1, %xmm1
	xorl	%r9d, %r9d
	jmp	.LBB0_15
.LBB0_11:
	movq	%r8, %r9
	andq	%r10, %r9
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%r11d, %r11d
	vxorps	%xmm1, %xmm1, %xmm1
	vxorps	%xmm2, %xmm2, %xmm2
	vxorps	%xmm3, %xmm3, %xmm3
	.p2align	4
.LBB0_12:
	vmovups	(%rcx,%r11,4), %zmm4
	vmovups	64(%rcx,%r11,4), %zmm5
	vmovups	128(%rcx,%r11,4), %zmm6
	vmovups	192(%rcx,%r11,4), %zmm7
	vfmadd231ps	(%rsi,%r11,4), %zmm4, %zmm0
	vfmadd231ps	64(%rsi,%r11,4), %zmm5, %zmm1
	vfmadd231ps	128(%rsi,%r11,4), %zmm6, %zmm2
	vfmadd231ps	192(%rsi,%r11,4), %zmm7, %zmm3
	addq	$64, %r11
	cmpq	%r11, %r9
	jne	.LBB0_12
	vaddps	%zmm0, %zmm1, %zmm0
	vaddps	%zmm2, %zmm3, %zmm1
	vaddps	%zmm0, %zmm1, %zmm0
	vextractf64x4	$1, %zmm0, %ymm1
	vaddps	%zmm1, %zmm0, %zmm0
	vextractf128	$1, %ymm0, %xmm1
	vaddps	%xmm1, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm1
	vaddps	%xmm1, %xmm0, %xmm0
	vmovshdup	%xmm0, %xmm1
	vaddss	%xmm1, %xmm0, %xmm1
	cmpq	%r9, %r8
	je	.LBB0_19
	testb	$56, %r8b
	je	.LBB0_8
.LBB0_15:
	movq	%r9, %r11
	addq	$56, %r10
	movq	%r10, %r9
	andq	%r8, %r9
	vxorps	%xmm0, %xmm0, %xmm0
	vmovss	%xmm1, %xmm0, %xmm0
	.p2align	4
.LBB0_16:
	vmovups	(%rcx,%r11,4), %ymm1
	vfmadd231ps	(%rsi,%r11,4), %ymm1, %ymm0
	addq	$8, %r11
	cmpq	%r11, %r9
	jne	.LBB0_16
	vextractf128	$1, %ymm0, %xmm1
	vaddps	%xmm1, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm1
	vaddps	%xmm1, %xmm0, %xmm0
	vmovshdup	%xmm0, %xmm1
	vaddss	%xmm1, %xmm0, %xmm1
	jmp	.LBB0_18
.LBB0_8:
	vmovss	(%rcx,%r9,4), %xmm0
	vfmadd231ss	(%rsi,%r9,4), %xmm0, %xmm1
	incq	%r9
.LBB0_18:
	cmpq	%r9, %r8
	jne	.LBB0_8
.LBB0_19:
	testq	%rax, %rax
	je	.LBB0_22
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_21
.LBB0_22:
	testq	%rdx, %rdx
	je	.LBB0_25
.LBB0_23:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_24
.LBB0_25:
	vmovss	%xmm1, (%rdi)
	xorl	%eax, %eax
	addq	$24, %rsp
	popq	%rbx
	popq	%r14
	vzeroupper
	retq
.LBB0_21:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	vmovaps	%xmm1, (%rsp)
	vzeroupper
	callq	NRT_MemInfo_call_dtor@PLT
	vmovaps	(%rsp), %xmm1
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_23
	jmp	.LBB0_25
.LBB0_24:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	vmovaps	%xmm1, (%rsp)
	vzeroupper
	callq	NRT_MemInfo_call_dtor@PLT
	vmovaps	(%rsp), %xmm1
	movq	%rbx, %rdi
	jmp	.LBB0_25
