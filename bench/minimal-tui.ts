import { Container, Editor, ProcessTerminal, ScrollView, Text, TuiAltScreen, VStack } from '@earendil-works/pi-tui'

/** The least that can be built on the same library: a text that scrolls and an input. What we add is measured against it. */
const plain = (text: string) => text
const tui = new TuiAltScreen(new ProcessTerminal())
const list = { selectedPrefix: plain, selectedText: plain, description: plain, scrollInfo: plain, noMatch: plain }
const editor = new Editor(tui, { borderColor: plain, selectList: list })
const lines = new Container()
const count = Number(process.argv[2] ?? 0)
for (let i = 0; i < count; i++) lines.addChild(new Text(`message ${i} of the minimal program`))
lines.addChild(new Text('Welcome to the minimal program'))
tui.setLayoutRoot(
  new VStack([
    { component: new ScrollView(lines, { follow: 'end', primary: true }), basis: 0, grow: 1, minSize: 1 },
    { component: editor, basis: 'auto', shrink: 1, minSize: 1 },
  ]),
)
tui.setFocus(editor)
tui.start()
if (count > 0) setInterval(() => (lines.addChild(new Text('streamed')), tui.requestRender()), 20)
