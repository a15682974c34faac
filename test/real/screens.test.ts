import type { Event } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Kind } from './sitting.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { optionKeys } from '../../src/core/talk/consent.ts'
import { longAnswer } from './scenes.ts'
import { sitting } from './sitting.ts'
import { outcomeOf } from './talk.ts'
import { skipped } from './turns.ts'

/**
 * The questions of each CLI before it is ready, its question about a command, and the labels that say yes. `trust` are the answers about
 * the folder, and `no` is the last answer about the command, as the CLI numbers them.
 */
const ways: Record<string, { first: string[]; yes: string[]; asks: string; trust: string[]; no: RegExp }> = {
  claude: {
    first: ['trust', 'login'],
    yes: ['Yes, I trust this folder', 'Yes'],
    asks: 'Bash command (makes a file): Do you want to proceed?',
    // The dialog about trust has no numbers, so its answers have ours.
    trust: ['1 No, exit', '2 Yes, I trust this folder'],
    no: / 4 No$/,
  },
  gemini: {
    first: ['trust'],
    yes: ['Trust folder (project)', 'Allow once'],
    asks: 'Allow execution of [Shell]?',
    trust: ['1 Trust folder (project)', '2 Trust parent folder (…)', "3 Don't trust"],
    // Gemini offers a lasting answer only after it has read the trust that it was just given.
    no: /^1 Allow once (?:2 Allow for this session 3|2) No, suggest changes$/,
  },
  codex: {
    first: ['trust'],
    yes: ['Trust and continue', 'Yes, proceed'],
    asks: 'Would you like to run the following command? Reason: It must be made.',
    trust: ['1 Trust and continue', '2 Quit'],
    no: / 3 No, and tell Codex what to do differently$/,
  },
}

/** Prompts with everything that JSON escapes, a terminal changes, a screen widens, or a CLI folds. */
const oddPrompts: Record<string, string> = {
  quote: 'please say "scene:quote" now',
  slash: String.raw`please C:\scene:slash\ now: "\\" and \n and "{{x.result}}"`,
  tab: 'please\tscene:tab\tnow\n\tindented\n',
  wide: 'bitte scene:wide 日本語 👩‍👩‍👧 e\u0301 \u00e9 <b>now</b>',
  control: 'please\u0007 scene:control\u001b[31m now\u200b',
  lines: `please scene:lines now:\n${'a "line" of the prompt\n'.repeat(60)}`,
  huge: `please ${'one "long" line, '.repeat(1_500)}scene:huge now`,
}

/** The answers of a question with their numbers; the name of a temporary folder is left out. */
function numbered({ options }: Question): string[] {
  const keys = optionKeys(options)
  return options.map(({ label }, at) => `${keys[at]} ${label.replace(/\(termaite-.*\)/, '(…)')}`)
}

const states = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'state' ? [event.state] : []))
const keyOf = (events: readonly Event[]) => events.findLast((event) => event.type === 'thread')?.key

const lacks = (kind: Kind) => kind === 'tmux' && spawnSync('tmux', ['-V']).error && 'tmux is not installed'

// One after another: three at once made Gemini and Qwen slower than their own timeouts allow.
describe('the real CLIs in real terminals', { concurrency: 1 }, () => {
  for (const [cli, { first, yes, asks, trust, no }] of Object.entries(ways))
    for (const kind of ['tmux', 'pty'] as const)
      test(
        `${cli} in ${kind}: it is ready when its questions are answered, takes turns, asks, answers whole, is stopped, leaves and goes on`,
        { skip: skipped(cli) || lacks(kind), timeout: 180_000 },
        async () => {
          await using it = await sitting(cli, kind)
          const allow = ({ options }: Question) => options.find(({ label }) => yes.includes(label))?.label
          const agent = it.agent()
          assert.equal(await it.start(agent, allow), undefined)
          // A key that a loaded machine lost is asked for again, and never pressed twice: the next dialog may look the same.
          assert.deepEqual([...new Set(it.asked.map(({ about }) => about))], first)
          assert.deepEqual(numbered(it.asked[0]!), trust)
          const before = it.asked.length

          const shell = await it.say(agent, 'please scene:shell now', allow)
          assert.deepEqual(outcomeOf(shell), {
            ok: true,
            text: 'All is done for shell.',
            seen: { fenced: true, by: 'journal' },
          })
          const { text, shows } = it.asked.at(-1)!
          assert.deepEqual({ text, shows }, { text: asks, shows: [{ type: 'command', command: 'touch made.txt' }] })
          assert.match(numbered(it.asked.at(-1)!).join(' '), no)
          assert.ok(existsSync(join(it.cwd, 'made.txt')))
          assert.deepEqual(states(shell), ['busy', 'asking', 'busy', 'idle'])

          for (const [name, prompt] of Object.entries(oddPrompts))
            assert.deepEqual(
              outcomeOf(await it.say(agent, prompt)),
              { ok: true, text: `All is done for ${name}.`, seen: { fenced: true, by: 'journal' } },
              prompt.slice(0, 80),
            )

          await it.say(agent, 'please scene:edit now')
          assert.equal(existsSync(join(it.cwd, 'new.txt')), false)
          assert.equal(it.asked.length, before + 2)

          const long = outcomeOf(await it.say(agent, 'please scene:long now'))
          assert.equal(long?.ok && long.text, longAnswer)

          const stop = new AbortController()
          void it.server.received(it.server.turns().length + 1).then(() => stop.abort())
          const stopped = outcomeOf(await it.say(agent, 'please scene:hang now', allow, stop))
          assert.deepEqual(stopped, { ok: false, failure: { kind: 'aborted', message: `${cli} was cancelled` } })

          const after = await it.say(agent, 'please scene:after now')
          assert.equal(outcomeOf(after)?.ok, true)
          await agent.close()

          const again = it.agent()
          const resumed = await it.say(again, 'please scene:again now')
          assert.deepEqual(outcomeOf(resumed), {
            ok: true,
            text: 'All is done for again.',
            seen: { fenced: true, by: 'journal' },
          })
          assert.equal(keyOf(resumed), keyOf(after))
          const told = it.server.turns().find(({ text }) => text.includes('scene:again'))!
          assert.ok(told.text.includes('scene:after'), 'it goes on with its own thread')
          await again.close()
          if (kind === 'pty') assert.deepEqual(await it.left(), [])
        },
      )

  // Copilot puts a long paste into a file, so that the model sees no other scene than the one before.
  for (const [cli, yes, huge] of [
    ['qwen', '', 'huge'],
    ['copilot', 'Yes', 'lines'],
  ] as const)
    for (const kind of ['tmux', 'pty'] as const)
      test(
        `${cli} in ${kind}: its own answer to odd prompts`,
        { skip: skipped(cli) || lacks(kind), timeout: 180_000 },
        async () => {
          await using it = await sitting(cli, kind)
          const agent = it.agent()
          const trust = ({ options }: Question) => options.find(({ label }) => label === yes)?.label
          assert.equal(await it.start(agent, trust), undefined)
          const answers: Record<string, unknown> = {}
          for (const [name, prompt] of Object.entries(oddPrompts))
            answers[name] = outcomeOf(await it.say(agent, prompt))
          assert.deepEqual(
            answers,
            Object.fromEntries(
              Object.keys(oddPrompts).map((name) => [
                name,
                {
                  ok: true,
                  text: `All is done for ${name === 'huge' ? huge : name}.`,
                  seen: { fenced: true, by: 'journal' },
                },
              ]),
            ),
          )
          await agent.close()
        },
      )
})
