// A field and a button. What is committed is decided, kept and locked by Python.

function render({ model, el }) {
  const root = figure(el, "Prediction"), unit = model.get("unit");
  const input = make("input", { type: "text", size: "14", inputmode: "decimal", autocomplete: "off",
    "aria-label": model.get("question") + (unit ? ` in ${unit}` : "") });
  const button = make("button", { type: "button" }, "Commit");
  const message = make("div", { class: "ls-message", role: "status" });
  const commit = () => { if (!model.get("locked")) model.send({ commit: input.value }); };
  button.addEventListener("click", commit);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") commit(); });
  const draw = () => {
    const locked = model.get("locked");
    if (locked) input.value = model.get("shown");
    input.readOnly = locked;  // not disabled: the focus stays where it is
    for (const node of [input, button]) node.setAttribute("aria-disabled", String(locked));
    input.classList.toggle("ls-locked", locked);
    button.textContent = !locked ? "Commit" : model.get("shown") ? "Committed" : "Shown";
    message.textContent = model.get("message");
    message.classList.toggle("ls-refused", model.get("refused"));
    input.setAttribute("aria-invalid", String(model.get("refused")));
  };
  root.append(make("div", { class: "ls-question" }, model.get("question")),
    make("div", { class: "ls-bar" }, input, unit ? make("span", {}, unit) : "", button), message);
  draw();
  return follow(model, ["locked", "shown", "message", "refused"], draw);
}

export default { render };
