/** Numbers below 1 that follow from a seed alone. */
export function drawn(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const awkward = [
  'say "hello"',
  'C:\\new\\table',
  '测试 “完成”',
  'tab\there',
  "it's `here`",
  '{"a": ["b"]}',
  '👍🏽 naïve',
  '$HOME %s',
]

/** Twelve chains of five tasks: each but the first has the result of the one before in its prompt. */
export function plan(taskCount: number): string {
  const rows = ['name: night', 'defaults: { retries: { times: 2, pause: 5s } }', 'tasks:']
  for (let thing = 1; thing <= taskCount; thing++) {
    const needs = thing % 5 === 1 ? undefined : `t${thing - 1}`
    rows.push(`  - name: t${thing}`, ...(needs ? [`    needs: ${needs}`] : []), '    prompt: |')
    rows.push(`      Do thing ${thing}. Mind ${awkward[thing % awkward.length]}`)
    if (needs) rows.push(`      Before it was said: {{${needs}.result}}`)
  }
  return `${rows.join('\n')}\n`
}

/** The subject that a commit of a task has: the first line of its prompt, cut as git's readers like it. */
export const titleOf = (prompt: string) => {
  const [first = ''] = prompt.trim().split('\n')
  return first.length > 72 ? `${first.slice(0, 71)}…` : first
}

/** The tests of the project: every thing that is there is whole, and has each line once. */
export const checkScript = `import { existsSync, readdirSync, readFileSync } from 'node:fs'
const names = existsSync('things') ? readdirSync('things') : []
for (const name of names) {
  const lines = readFileSync('things/' + name, 'utf8').trimEnd().split('\\n')
  const thing = name.replace('.txt', '')
  if (!['made-' + thing, 'made-' + thing + ',polished-' + thing].includes(lines.join())) throw new Error(name + ' holds ' + lines.join())
}
console.log(names.length + ' things')
`
