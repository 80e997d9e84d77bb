// Who is in the result of a collective, step by step.

function render({ model, el }) {
  const root = figure(el, "Who is in the result");
  const steps = player({ model, root });
  if (model.get("frames").length === 1) steps.bar.remove();
  return steps.end;
}

export default { render };
