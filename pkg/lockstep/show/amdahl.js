// Amdahl and Gustafson. Two sliders; Python computes and draws.

function render({ model, el }) {
  const root = figure(el, "Speedup by Amdahl's and Gustafson's laws");
  const picture = make("div", { class: "ls-picture" });
  const spoken = make("div", { class: "ls-unseen", "aria-live": "polite" });
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const shares = model.get("shares"), choices = model.get("choices");
  const p = slider("parallel fraction p", { min: 0, max: shares.length - 1, value: shares.indexOf(model.get("p")) },
    (index) => String(Number((shares[index]).toPrecision(4))), (index) => set("p", shares[index]));
  const workers = slider("workers s", { min: 0, max: choices.length - 1, value: choices.indexOf(model.get("workers")) },
    (index) => choices[index].toLocaleString("en"), (index) => set("workers", choices[index]));
  const draw = () => {
    picture.innerHTML = model.get("drawing");
    spoken.textContent = model.get("told");
    p.set(shares.indexOf(model.get("p")));
    workers.set(choices.indexOf(model.get("workers")));
  };
  root.append(make("div", { class: "ls-bar" }, p.node, workers.node), picture, spoken);
  draw();
  return follow(model, ["drawing", "told"], draw);
}

export default { render };
