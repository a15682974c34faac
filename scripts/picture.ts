// Makes the README's picture from a real run: the built program's demo, drawn as it was printed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const ran = spawnSync('bash', ['-c', `"${process.execPath}" bin/termaite.cjs demo 2>&1`], {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, TZ: 'UTC' },
})
if (ran.status !== 0) throw new Error(ran.stdout)

const width = 100
const lines = ran.stdout.trimEnd().split('\n').flatMap(wrapped)

/** Breaks between words, as a terminal of that width would be read. */
function wrapped(line: string): string[] {
  if (line.length <= width) return [line]
  const at = line.lastIndexOf(' ', width)
  return [line.slice(0, at), ...wrapped(line.slice(at + 1))]
}

const colours: [RegExp, string][] = [
  [/^\$ /, '#7ee787'],
  [/^(amber|birch)[: ]/, '#f0883e'],
  [/^— /, '#8b949e'],
  [/^\d{4}-\d\d-\d\d /, '#8b949e'],
  [/^[A-Z].*[.,:]$/, '#e6edf3'],
]
const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const rows = lines.map((line, index) => {
  const colour = colours.find(([mark]) => mark.test(line))?.[1] ?? '#c9d1d9'
  return `<text x="20" y="${58 + index * 19}" fill="${colour}" xml:space="preserve">${escape(line)}</text>`
})
const height = 58 + lines.length * 19 + 10
mkdirSync(join(root, 'docs'), { recursive: true })
writeFileSync(
  join(root, 'docs', 'demo.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" width="860" height="${height}" viewBox="0 0 860 ${height}" role="img" aria-label="termaite demo">
<rect width="860" height="${height}" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5">
${rows.join('\n')}
</g>
</svg>
`,
)
