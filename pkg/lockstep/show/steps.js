// A figure of drawn steps, with nothing but its sliders.

function render({ model, el }) {
  return player({ model, root: figure(el, model.get("label")) });
}

export default { render };
