// A question with a field or with choices. Python knows the answer; what it says is read aloud.

function render({ model, el }) {
  const question = model.get("question"), unit = model.get("unit"), choices = model.get("choices");
  const root = figure(el, choices.length ? question : "Question");
  const said = make("div", { class: "ls-said", role: "status" }), bar = make("div", { class: "ls-bar" });
  const answer = (given) => model.send({ given });
  if (choices.length) {
    bar.append(...choices.map((c) => make("button", { type: "button", onclick: () => answer(c) }, c)));
  } else {
    const input = make("input", { type: "text", size: "14", inputmode: "decimal", autocomplete: "off",
      "aria-label": question + (unit ? ` in ${unit}` : "") });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") answer(input.value); });
    bar.append(input, unit ? make("span", {}, unit) : "", make("button", { type: "button", onclick: () => answer(input.value) }, "Check"));
  }
  const tell = make("button", { type: "button", onclick: () => { model.send({ tell: true }); said.focus(); } }, "Show the answer");
  said.tabIndex = -1;
  bar.append(tell);
  const draw = () => {
    said.textContent = model.get("said");
    tell.hidden = !model.get("offer");
  };
  root.append(make("div", { class: "ls-question" }, question), bar, said);
  draw();
  return follow(model, ["said", "offer"], draw);
}

export default { render };
