/**
 * xterm writes sizes and colours into style elements and style attributes, both of which the page's policy refuses. With
 * this, such an element becomes a sheet of the document, and such an attribute is set by its properties. The policy
 * allows both, because only a script of the page itself can do them. So the policy needs no exception for xterm.
 */
export function keepStylesToPolicy(): void {
  document.createElement = createElement
}

function createElement(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === 'style') return sheetElement()
  const element = newElement(tag, options)
  // xterm gives the attribute to no other element.
  if (tag === 'span') element.setAttribute = setAttribute
  return element
}

const newElement = (tag: string, options?: ElementCreationOptions) =>
  Document.prototype.createElement.call(document, tag, options)

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value
  else Element.prototype.setAttribute.call(this, name, value)
}

/** An element that replaces a style element: its text is a sheet of the document until it is removed. */
function sheetElement(): HTMLElement {
  const element = newElement('data')
  element.hidden = true
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) })
  element.remove = () => {
    Element.prototype.remove.call(element)
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
  }
  return element
}
