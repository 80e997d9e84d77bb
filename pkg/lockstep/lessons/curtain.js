// Why a cell waits, and a button for whoever wants to go on without.

function render({ model, el }) {
  const root = figure(el, "This cell waits");
  const show = () => {
    el.closest(".jp-Cell")?.focus({ preventScroll: true });  // the button goes away: the focus stays in its cell
    model.send({ show: true });
  };
  const button = make("button", { type: "button", onclick: show }, model.get("offer"));
  root.append(make("div", { class: "ls-bar" }, make("span", {}, model.get("why")), button));
}

export default { render };
