// The verdict on the learner's lines, and a solution if it was asked for.

function render({ model, el }) {
  const root = figure(el, "Your turn"), said = make("div", { class: "ls-said", role: "status" });
  const code = make("pre", { class: "ls-code", tabindex: "-1", "aria-label": "A solution" });
  const button = make("button", { type: "button", onclick: () => { model.send({ show: true }); code.hidden = false; code.focus(); } });
  const draw = () => {
    said.textContent = model.get("said");
    judged(said, model.get("state"));
    button.textContent = model.get("offer");
    button.hidden = !model.get("offer");
    code.textContent = model.get("solution");
    code.hidden = !model.get("solution");
  };
  root.append(said, button, code);
  requestAnimationFrame(draw);  // words that come later are read aloud
  return follow(model, ["said", "state", "offer", "solution"], draw);
}

export default { render };
