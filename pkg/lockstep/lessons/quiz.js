// A question with a field or with choices. Python knows the answer; what it says is read aloud.

function render({ model, el }) {
  const question = model.get("question"), unit = model.get("unit"), choices = model.get("choices");
  const root = figure(el, choices.length ? question : "Question");
  const said = make("div", { class: "ls-said", role: "status" }), bar = make("div", { class: "ls-bar" });
  const answer = (given) => model.send({ given }), buttons = [];
  let input;
  if (choices.length) {
    buttons.push(...choices.map((c) => make("button", { type: "button", onclick: () => answer(c) }, c)));
    bar.append(...buttons);
  } else {
    input = make("input", { type: "text", size: "14", inputmode: "decimal", autocomplete: "off",
      "aria-label": question + (unit ? ` in ${unit}` : ""), value: model.get("given") });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") answer(input.value); });
    bar.append(input, unit ? make("span", {}, unit) : "", make("button", { type: "button", onclick: () => answer(input.value) }, "Check"));
  }
  const tell = make("button", { type: "button", onclick: () => { model.send({ tell: true }); said.focus(); } }, "Show the answer");
  said.tabIndex = -1;
  bar.append(tell);
  const draw = () => {
    said.textContent = model.get("said");
    judged(said, model.get("state"));
    for (const button of buttons) {
      const chosen = button.textContent === model.get("given");
      button.setAttribute("aria-pressed", String(chosen));
      judged(button, chosen ? model.get("state") : "");
    }
    if (input) judged(input, model.get("given") && model.get("state"));
    tell.hidden = !model.get("offer");
  };
  root.append(make("div", { class: "ls-question" }, question), bar, said);
  draw();
  return follow(model, ["said", "offer", "state", "given"], draw);
}

export default { render };
