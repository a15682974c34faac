import type { GlassOptions, Size } from './glass.ts'
import { test } from 'node:test'
import { Glass, keys } from './glass.ts'
import { golden } from './golden.ts'
import { recordedClaude, talkers } from './machine.ts'

const sizes: readonly Size[] = [
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
  { cols: 200, rows: 50 },
]

const looks: Record<string, GlassOptions> = {
  dark: {},
  light: { background: 'ffff/ffff/ffff' },
  plain: { env: { NO_COLOR: '1' } },
}

const options = { timeout: 180_000 }

/** The frame at every size; then the first size comes back. */
async function framed(glass: Glass, look: string, name: string, what: string | RegExp): Promise<void> {
  for (const size of sizes) {
    await glass.resize(size)
    await glass.shows(what)
    golden(`${name}-${size.cols}x${size.rows}-${look}`, glass.frame())
  }
  await glass.resize(sizes[0]!)
}

/** The popup goes first, then what was typed. */
async function emptied(glass: Glass): Promise<void> {
  glass.type(keys.escape)
  await glass.shows((screen) => !screen.includes('›'))
  glass.type(keys.ctrlC)
  await glass.shows('Ask anything')
}

for (const [look, shown] of Object.entries(looks)) {
  test(`the chat from its welcome to its errors, ${look}`, options, async (t) => {
    const { machine, goOn } = talkers(t)
    const glass = new Glass(machine, shown)
    t.after(() => glass.end())
    await glass.shows(/next alpha/)
    await framed(glass, look, 'welcome', 'Welcome to')

    glass.type('/')
    await framed(glass, look, 'commands', '/switch')
    await emptied(glass)
    glass.type('look at @ad')
    await framed(glass, look, 'files', 'src/add.ts')
    await emptied(glass)
    glass.type(keys.f1)
    await framed(glass, look, 'palette', 'Commands')
    glass.type(keys.escape)
    await glass.shows((screen) => !screen.includes('Commands'))

    glass.type('stream please\r')
    await framed(glass, look, 'streaming', /The first half/)
    goOn()
    await glass.shows(/─ alpha/)
    glass.type('explain it\r')
    await framed(glass, look, 'answered', 'See https')
    glass.type('fail please\r')
    await framed(glass, look, 'error', /this one as well[^]*─/)
    glass.type('quota please\r')
    await framed(glass, look, 'quota', /by itself/)
    glass.type(keys.down)
    glass.type(keys.enter)
    await framed(glass, look, 'parked', /waiting for alpha|alpha is waited for/)
  })

  test(`what an agent asks and does, ${look}`, options, async (t) => {
    const { machine, env } = recordedClaude(t)
    const glass = new Glass(machine, { ...shown, env: { ...shown.env, ...env } })
    t.after(() => glass.end())
    await glass.shows(/next claude/)
    glass.type('play allowed\r')
    await framed(glass, look, 'permission', 'touch made.txt')
    glass.type(keys.down + keys.up)
    glass.type(keys.enter)
    await glass.shows(/─ claude/)
    glass.type(keys.ctrlO)
    await framed(glass, look, 'tool-call', 'completed with no output')
    glass.type('play change\r')
    await framed(glass, look, 'diff', /\+.*ho/)
    glass.type(keys.down + keys.up)
    glass.type(keys.enter)
    await framed(glass, look, 'changed', /Edit: a.txt → Yes, once[^]*That is all/)
    glass.type('play question\r')
    await framed(glass, look, 'choice', 'Which colour?')
  })
}
