import type { CommandShape } from './command-shape.ts'
import { leashes, strategies } from '../core/work/agent.ts'
import { thinkings } from '../core/talk/framework.ts'
import { workModes } from '../settings/work-mode.ts'

/** What `termaite` itself takes. */
export const mainShape: CommandShape = {
  name: 'termaite',
  words: '[prompt…]',
  summary: 'One terminal for every coding agent you have: one conversation per project that never stops.',
  flags: {
    prompt: {
      short: 'p',
      value: 'text',
      help: 'one turn without a screen; "-" reads the prompt from stdin, piped stdin beside it is context',
    },
    agent: { short: 'a', value: 'name|auto', help: 'who takes the first turn' },
    rotation: { short: 'r', value: 'strategy', choices: strategies, help: 'for this run' },
    continue: { short: 'c', help: 'the most recently used project' },
    new: { help: 'a fresh session' },
    session: { value: 'name', help: 'a named session' },
    ephemeral: { help: 'read and keep nothing of what is said' },
    mode: {
      value: 'mode',
      choices: Object.keys(workModes),
      help: 'everybody, our own agents alone, or our own that plan and change nothing',
    },
    think: { value: 'how', choices: thinkings, help: 'how turns are thought through before somebody acts' },
    leash: { value: 'level', choices: leashes, help: 'how much an agent may do' },
    allow: {
      value: 'rule',
      many: true,
      help: 'what termaite’s own agent need not ask for, such as "bash(npm test:*)"',
    },
    deny: { value: 'rule', many: true, help: 'what it may not do, whatever else allows it' },
    'output-format': { value: 'format', choices: ['text', 'json', 'stream-json'], help: 'with -p' },
    'max-cost': { value: 'usd', help: 'refuse the next call beyond it' },
    'max-tokens': { value: 'n', help: 'refuse the next call beyond it' },
    exclusive: { help: 'wait for another turn at work in the same project' },
    'no-alt-screen': { help: 'the chat in the normal buffer of the terminal' },
    classic: { help: 'the same as --no-alt-screen' },
    cwd: { value: 'dir', help: 'where the agents run' },
    debug: { help: 'say on stderr what is going on' },
    version: { short: 'v', help: 'the version' },
  },
  examples: [
    'termaite',
    'termaite "why does the build fail?" -a claude',
    'termaite -p "why does the build fail?"',
    'git diff | termaite -p "review this"',
    'termaite -p - --output-format json < prompt.txt',
  ],
}
