// The ring all-reduce, step by step, with a slider for the number of ranks.

function render({ model, el }) {
  const root = figure(el, "Ring all-reduce, step by step");
  const most = Math.max(8, model.get("ranks"));
  const ranks = slider("ranks", { min: 1, max: most, value: model.get("ranks") }, String, (count) => {
    steps.stop();
    model.set("ranks", count);
    model.save_changes();
  });
  const steps = player({ model, root, more: () => ranks.set(model.get("ranks")) });
  steps.bar.append(ranks.node);
  return steps.end;
}

export default { render };
