// Why a cell waits, and a button for whoever wants to go on without.

function render({ model, el }) {
  const root = figure(el, model.get("label"));
  const show = () => {
    el.closest(".jp-Cell")?.focus({ preventScroll: true });  // the button goes away: the focus stays in its cell
    model.send({ show: true });
  };
  const why = make("span", { role: "status" }), button = make("button", { type: "button", onclick: show });
  const draw = () => {
    why.textContent = model.get("why");
    button.textContent = model.get("offer");
    button.hidden = !model.get("offer");
  };
  root.append(make("div", { class: "ls-bar" }, why, button));
  draw();
  return follow(model, ["why", "offer"], draw);
}

export default { render };
