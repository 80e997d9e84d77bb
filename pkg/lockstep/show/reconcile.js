// Prediction, simulation and measurement side by side, and a field for the reason.

function render({ model, el }) {
  const root = figure(el, "Prediction, simulation and measurement");
  if (!model.get("ready")) {
    root.append(make("div", { class: "ls-question" }, model.get("message")));
    return undefined;
  }
  const picture = make("div", { class: "ls-picture" });
  picture.innerHTML = model.get("drawing");
  root.append(picture);
  if (!model.get("asks")) return undefined;
  const text = make("textarea", { "aria-label": model.get("prompt"), placeholder: "Your reason" });
  const message = make("div", { class: "ls-message", role: "status" });
  text.value = model.get("reason");
  const keep = () => { if (text.value !== model.get("reason")) model.send({ reason: text.value }); };
  text.addEventListener("change", keep);
  const button = make("button", { type: "button", onclick: keep }, "Keep");
  root.append(make("div", { class: "ls-question" }, model.get("prompt")), text, make("div", { class: "ls-bar" }, button), message);
  const draw = () => { message.textContent = model.get("message"); };
  draw();
  return follow(model, ["message"], draw);
}

export default { render };
