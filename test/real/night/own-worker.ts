// An agent of a person's own making, in a real terminal: `node own-worker.ts <style> <ms of a task>`. It does the thing that its last
// prompt names, in the folder that it was started in, and answers in words that a journal or a template could break on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/**
 * `spinner` draws a moving mark while its prompt stays visible, so that only the fence tells when it is done; `pattern` has a prompt
 * that is gone while it works; `shell` prints nothing while a command runs, as a shell does, so that only the process table tells that it
 * works; `wide` answers in wide characters, inside a fence.
 */
export type Style = 'spinner' | 'pattern' | 'shell' | 'wide'

/** What the words of a task want: the number of its thing, and whether its review wants it polished. */
export function wanted(words: string): { thing: number; polished: boolean } | undefined {
  const last = [...words.matchAll(/Do thing (\d+)\.|Add the line polished-(\d+)/g)].at(-1)
  return last && { thing: Number(last[1] ?? last[2]), polished: last[2] !== undefined }
}

export const fileOf = (thing: number) => `things/${thing}.txt`

/** The lines of a finished thing, each once. */
export const linesOf = (thing: number, polished: boolean) => [
  `made-${thing}`,
  ...(polished ? [`polished-${thing}`] : []),
]

export const answerTo = (thing: number, polished: boolean) =>
  `Thing ${thing} is "${polished ? 'polished' : 'made'}" — 完成了 \\o/`

function work(thing: number, polished: boolean): void {
  mkdirSync('things', { recursive: true })
  const kept = existsSync(fileOf(thing)) ? readFileSync(fileOf(thing), 'utf8').split('\n') : []
  for (const line of linesOf(thing, polished)) if (!kept.includes(line)) appendFileSync(fileOf(thing), `${line}\n`)
}

const prompts: Record<Style, string> = { spinner: '❯ ', pattern: '> ', shell: '$ ', wide: '» ' }

async function main([style, taskMs]: [Style, string]): Promise<void> {
  const write = (text: string) => process.stdout.write(text.replaceAll('\n', '\r\n'))
  process.stdin.setRawMode(true)
  process.stdin.setEncoding('utf8')
  write(`\u001b[?2004hown worker, ${style}\n${prompts[style]}`)
  let composer = ''
  let pasting = false
  let rest = ''
  for await (const chunk of process.stdin) {
    rest += chunk
    for (;;) {
      const mark = /^\u001b\[20([01])~/.exec(rest)
      if (mark) {
        pasting = mark[1] === '0'
        rest = rest.slice(6)
        continue
      }
      // A mark that has come in part is waited for.
      if (rest === '' || '\u001b[200~'.startsWith(rest) || '\u001b[201~'.startsWith(rest)) break
      const key = rest[0]!
      rest = rest.slice(1)
      if (!pasting && key === '\u0003') process.exit(0)
      if (!pasting && key === '\u0015') composer = ''
      else if (pasting || key !== '\r') {
        composer += key === '\r' ? '\n' : key
        write(key === '\r' || key === '\n' ? '\n' : key)
      } else if (composer !== '') {
        const prompt = composer
        composer = ''
        await turn(prompt)
      }
    }
  }

  async function turn(prompt: string): Promise<void> {
    const want = wanted(prompt)
    const nonce = /\[termaite-response-([0-9a-f]{6})\]/.exec(prompt)?.[1]
    write('\n')
    const end = performance.now() + (want ? Number(taskMs) : 0)
    if (want && style === 'shell')
      await once(spawn('sleep', [String(Number(taskMs) / 1000)], { stdio: 'ignore' }), 'exit')
    for (let tick = 0; performance.now() < end; tick++) {
      write(style === 'spinner' ? `\r${'|/-\\'[tick % 4]} working\n❯ \u001b[A\r` : `\rworking ${tick}`)
      await pause(400)
    }
    if (want) work(want.thing, want.polished)
    const answer = want ? answerTo(want.thing, want.polished) : 'ready'
    const fenced = nonce ? [`[termaite-response-${nonce}]`, answer, `[/termaite-response-${nonce}]`] : [answer]
    write(`\r\u001b[J${fenced.join('\n')}\n\n${prompts[style]}`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2) as [Style, string])
