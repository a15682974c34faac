import { test } from 'node:test'
import assert from 'node:assert/strict'
import { escapeOf, optionKeys } from '../../src/core/talk/consent.ts'
import { everyCard } from './every-card.ts'

const cards = Object.entries(await everyCard())

test('on every card of every vendor 1 is a yes for once, 2 a yes that lasts, 3 a no, and nothing else has these keys', () => {
  const seen = cards.map(([name, { options }]) => {
    const keys = optionKeys(options)
    return [name, options.map(({ label }, at) => `${keys[at]} ${label}`)]
  })
  assert.deepEqual(Object.fromEntries(seen), {
    permission: ['1 Yes, once', '2 Yes, always in this project', '3 No'],
    'always-prefix': [
      '1 Yes, once',
      '2 Yes, always in this project',
      '3 No',
      '4 Yes, always in this project, also with other arguments',
    ],
    'long-script': ['1 Yes, once', '2 Yes, always in this project', '3 No'],
    trust: ['2 Yes, trust them as they are now', '3 No, do not use them'],
    sharing: ['2 Yes, share it with Google', '3 No, skip gemini'],
    denied: ['1 Yes, for this turn alone, and try again', '3 No, leave it undone'],
    login: ['1 I have logged in, try again', '3 Continue with claude'],
    quota: [
      '1 Hand over to claude now',
      '3 Stop the turn',
      '4 Wait for gemini until 13:00, then continue automatically',
    ],
    wait: ['1 Wait for gemini until 13:00, then continue automatically', '3 Stop the turn'],
    silence: ['1 Wait another 5 minutes', '3 Stop the turn', '4 End it and continue with the next agent'],
    'think-cost': ['1 Yes, go on', '2 Yes, and do not ask again in this project', '3 No, one agent answers directly'],
    'think-more': ['1 Yes, go on', '2 Yes, and do not ask again in this project', '3 No, make no more calls'],
    'long-turn': [
      '1 Yes, and ask again after 100 more steps',
      '2 Yes, until this request is done',
      '3 No, stop here and keep what is done',
    ],
    plan: ['1 Yes, build it', '3 No, drop it', '4 Change it: say what'],
    'mcp-confirm': ['1 Yes', '3 Do not answer'],
    'mcp-field': ['1 Yes', '3 No', '4 Do not answer'],
    'claude-shell': [
      '1 Yes',
      '2 Yes, and always allow access to /tmp/termaite-real-aBcDeF/project from this project',
      '3 No',
      '4 Yes, and switch to auto mode · auto mode handles these prompts for you',
    ],
    'claude-trust': ['2 Yes, I trust this folder', '3 No, exit'],
    'gemini-edit': [
      '1 Allow once',
      '2 Allow for this session',
      '3 No, suggest changes',
      '4 Modify with external editor',
    ],
    'gemini-trust': ['2 Trust folder (project)', "3 Don't trust", '4 Trust parent folder (termaite-real-aBcDeF)'],
    'codex-shell': [
      '1 Yes, proceed',
      "2 Yes, and don't ask again for commands that start with `touch`",
      '3 No, and tell Codex what to do differently',
    ],
    'codex-trust': ['2 Trust and continue', '3 Quit'],
    'qwen-shell': [
      '1 Yes, allow once',
      "2 Always allow run 'touch *' commands in this project",
      '3 No, suggest changes',
      "4 Always allow run 'touch *' commands for this user",
    ],
    'copilot-shell': [
      '1 Yes',
      "2 Yes, and don't ask again for `touch` in this repo (/tmp/termaite-real-aBcDeF/project)",
      '3 No, and tell Copilot what to do differently',
    ],
  })
})

test('Escape is the harmless answer on every card, and its label says what will happen', () => {
  const seen = cards.map(([name, question]) => {
    const { says, picks } = escapeOf(question)
    return [name, [says, picks?.[0] ?? (question.cancels ? 'the turn is cancelled' : 'no answer')]]
  })
  assert.deepEqual(Object.fromEntries(seen), {
    permission: ['No', 'no'],
    'always-prefix': ['No', 'no'],
    'long-script': ['No', 'no'],
    trust: ['No, do not use them', 'no'],
    sharing: ['No, skip gemini', 'no'],
    denied: ['No, leave it undone', 'leave'],
    login: ['Continue with claude', 'next'],
    quota: ['Stop the turn', 'stop'],
    wait: ['Stop the turn', 'stop'],
    silence: ['Wait another 5 minutes', 'wait'],
    'think-cost': ['stop here and keep the text', 'the turn is cancelled'],
    'think-more': ['No, make no more calls', 'direct'],
    'long-turn': ['No, stop here and keep what is done', 'stop'],
    plan: ['decide later; nothing is built', 'no answer'],
    'mcp-confirm': ['Do not answer', 'termaite:decline'],
    'mcp-field': ['Do not answer', 'termaite:decline'],
    'claude-shell': ['No', 'no answer'],
    'claude-trust': ['No', 'no answer'],
    'gemini-edit': ['No', 'no answer'],
    'gemini-trust': ['No', 'no answer'],
    'codex-shell': ['No', 'no answer'],
    'codex-trust': ['No', 'no answer'],
    'qwen-shell': ['No', 'no answer'],
    'copilot-shell': ['No', 'no answer'],
  })
})
