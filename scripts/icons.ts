// Draws the PNG icons of the hub's page from icon.svg with Chromium. Run it after a change of the SVG, and commit what it writes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const page = join(import.meta.dirname, '..', 'src', 'page', 'browser')
const svg = readFileSync(join(page, 'icon.svg'), 'utf8')

/** A system cuts a maskable icon to any shape inside a circle of four fifths: the ground reaches the edge, and the sign is smaller. */
const maskable = svg
  .replace(' rx="14"', '')
  .replace(/(<path[^]*)<\/svg>/, '<g transform="translate(32 32) scale(0.72) translate(-32 -32)">$1</g></svg>')

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
for (const [name, picture, size] of [
  ['icon-192.png', svg, 192],
  ['icon-512.png', svg, 512],
  ['icon-maskable-512.png', maskable, 512],
] as const) {
  const context = await browser.newContext({ viewport: { width: size, height: size } })
  const tab = await context.newPage()
  await tab.setContent(
    `<style>body { margin: 0 } svg { display: block; width: ${size}px; height: ${size}px }</style>${picture}`,
  )
  writeFileSync(join(page, name), await tab.screenshot({ omitBackground: true }))
  await context.close()
}
await browser.close()
