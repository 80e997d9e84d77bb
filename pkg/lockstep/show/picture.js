// A drawing that does not move: in the page, it follows the page's colours.

function render({ model, el }) {
  const picture = make("div", { class: "ls-picture" });
  picture.innerHTML = model.get("drawing");
  figure(el, picture.querySelector("svg > title").textContent).append(picture);
}

export default { render };
