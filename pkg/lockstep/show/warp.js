// One warp's way through a kernel, instruction by instruction.

function render({ model, el }) {
  return player({ model, root: figure(el, "One warp, step by step"), pause: 600 }).end;
}

export default { render };
