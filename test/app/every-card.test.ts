import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeOf, optionKeys, picksIn, picksTyped } from '../../src/core/talk/consent.ts'
import { everyCard } from './every-card.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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
    absent: [
      '1 Let claude answer instead',
      '3 Stop the turn',
      '4 Ask gemini anyway',
      '5 Wait for gemini until 13:00, then continue automatically',
    ],
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
    'think-tree': ['1 Yes, continue it', '3 No, plan it again'],
    revert: ['1 Yes, revert the changes', '3 No, keep the changes'],
    attach: ['1 Yes, attach it to this prompt', '3 No, leave it out'],
    init: ['1 Yes, write it', '3 No, leave the project as it is'],
    'edit-settings': ['1 Edit it again', '3 Leave the file as it is'],
    'setup-agents': ['1 claude', '2 gemini'],
    'setup-leash': [
      '1 ask: ask before every action',
      '2 edit: change files in the project, ask for the rest',
      '3 read: read only',
    ],
    'setup-replace': ['1 Yes, replace it', '3 No, leave it as it is'],
    'use-things': ['1 Yes, all 2', '3 No, none of it', '4 Some of it: choose next'],
    'use-hook': ['2 Yes, run it', '3 No, do not use it'],
    'use-write': ['1 Yes, write it', '3 No, change nothing'],
    'leash-all': ['1 Yes, until you leave', '2 Yes, and do not ask again in this project', '3 No, keep the leash ask'],
    clear: ['1 Yes, start a new session', '3 No, change nothing'],
    'stop-agent': ['1 Yes, stop it', '3 No, let it work'],
    remember: [
      '1 Yes, add it',
      '3 No, write nothing',
      '4 Change the words first',
      '5 Add it to your own TERMAITE.md instead, for all projects',
      '6 It is no note: send it as a prompt',
    ],
    key: [],
    'left-processes': ['1 Yes, end it', '3 No, let it run'],
    'was-quota': ['2 Yes, it was a quota: do not ask gemini again until it is back', '3 No, it was something else'],
    'worker-stray': [
      '1 Bring in only the changes that were allowed',
      '3 Bring in nothing, and keep its copy for a day',
      '4 Bring in all of its changes',
    ],
    'worker-conflict': [
      '1 Bring in all other files, and leave these in its copy',
      '3 Bring in nothing, and keep its copy for a day',
      "4 Bring in everything, and save the project's versions aside",
    ],
    'worker-conflict-alone': [
      "1 Bring in these files, and save the project's versions aside",
      '3 Bring in nothing, and keep its copy for a day',
    ],
    'agent-asks': ['1 red', '2 green', '3 blue'],
    'mcp-page': ['1 Yes, open it in the browser', '3 No, do not open it', '4 I open the page myself'],
    'claude-permission': ['1 Yes, once', '2 Yes, always in this project', '3 No', '4 Yes, until this turn ends'],
    'claude-choice': ['1 A'],
    'codex-command': ['1 Yes, once', '2 Yes, until this turn ends', '3 No', '4 Yes, always in every project'],
    'codex-wider': ['2 Yes, until this turn ends', '3 No'],
    'acp-permission': ['1 Allow once', '2 Allow for this session', '3 No, suggest changes'],
    'acp-kept': ['1 Allow once', '2 Yes, until the turn ends', '3 No, suggest changes'],
    'acp-file': ['1 Yes, once', '3 No'],
    unread: ['3 Decline it: press Escape in the terminal of gemini'],
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

test('Escape is the harmless answer on every card, and its label says what will happen', (t) => {
  const seen = cards.map(([name, question]) => {
    const { says, picks } = escapeOf(question)
    return [name, [says, picks?.[0] ?? (question.cancels ? 'the turn is cancelled' : 'no answer')]]
  })
  golden(t, Object.fromEntries(seen))
})

/** The cards of each file that makes some; a file with a reason makes none, or cannot be asked here. */
const makers: Record<string, readonly string[] | string> = {
  'agents/acp/acp-client.ts': 'a form of an ACP agent: test/agents/acp-questions.test.ts',
  'agents/acp/acp-permission.ts': ['acp-permission', 'acp-kept'],
  'agents/acp/acp-rules.ts': ['acp-file'],
  'agents/native/plan-card.ts': ['plan'],
  'agents/native/step-limits.ts': ['long-turn'],
  'agents/screen/screen-dialogs.ts': ['unread'],
  'agents/turn-watch.ts': ['silence'],
  'app/attachments/attachments.ts': ['attach'],
  'app/init/init-turn.ts': ['init'],
  'app/native/native-sandbox.ts': 'a command that the wall refused: test/app/native-sandbox.test.ts',
  'app/race/kept-race.ts': 'whether a result replaces files that changed since its race: test/app/race.test.ts',
  'cli/commands/trust.ts': 'the text of a question that `confirm` asks',
  'core/work/perform.ts': ['permission', 'always-prefix', 'long-script'],
  'crew/workers/merge-card.ts': ['worker-stray', 'worker-conflict', 'worker-conflict-alone'],
  'desk/follow-up-cards.ts': ['left-processes', 'was-quota'],
  'desk/belongings-offer.ts': ['use-things', 'use-hook', 'use-write'],
  'desk/setup.ts': ['setup-agents', 'setup-leash', 'setup-replace'],
  // The other cards of this file are lists to choose from, which change nothing without an answer.
  'desk/slash/choice.ts': ['stop-agent'],
  'desk/slash/clear.ts': ['clear'],
  'desk/slash/remember.ts': ['remember'],
  'desk/slash/connect.ts': ['key'],
  'desk/slash/leash.ts': ['leash-all'],
  'desk/slash/server-prompts.ts': "the arguments of a server's prompt, a list to choose from: test/screen/mcp.test.ts",
  'mind/race/race-choice.ts': 'the results of a race, a list to choose from: test/mind/race/race.test.ts',
  'mind/rotation/rotation-cards.ts': ['sharing', 'denied', 'login', 'quota', 'wait', 'absent'],
  'mind/think/cost-consent.ts': ['think-cost', 'think-more'],
  'mind/think/decompose/saved-trees.ts': ['think-tree'],
  'mind/think/revert-offer.ts': ['revert'],
  'profiles/claude/claude-questions.ts': ['claude-permission'],
  'profiles/claude/claude-screen.ts': ['claude-shell', 'claude-trust'],
  'profiles/codex/codex-questions.ts': ['codex-command', 'codex-wider'],
  'profiles/codex/codex-screen.ts': ['codex-shell', 'codex-trust'],
  'profiles/copilot/copilot-screen.ts': ['copilot-shell'],
  'profiles/gemini/gemini-screen.ts': ['gemini-edit', 'gemini-trust'],
  'profiles/qwen/qwen-screen.ts': ['qwen-shell'],
  'profiles/shared/choice-cards.ts': ['claude-choice'],
  'profiles/termaite.ts': 'reads our own cards from a screen: test/profiles/screen-termaite.test.ts',
  'safety/trust/folder-trust.ts': ['trust'],
  'settings/settings-editor.ts': ['edit-settings'],
  'tools/ask-question.ts': ['agent-asks'],
  'tools/mcp/elicitation.ts': ['mcp-confirm', 'mcp-field', 'mcp-page'],
  'tools/mcp/remote-server.ts': 'the login page of an MCP server: test/tools/mcp/http.test.ts',
}

test('every file that makes a card has its cards in this list', () => {
  const src = join(import.meta.dirname, '..', '..', 'src')
  const kinds = /\babout: '(?:permission|choice|login|trust|quota|silence|denied|sharing)'|\babout: [a-z]\w* \?/
  const found = globSync('**/*.ts', { cwd: src }).filter((file) => kinds.test(readFileSync(join(src, file), 'utf8')))
  const named = found.map((file) => file.replaceAll('\\', '/'))
  assert.deepEqual(
    [...new Set([...named, 'profiles/termaite.ts'])].sort(),
    Object.keys(makers).sort(),
    'a file that makes a question is missing here, or makes none any more',
  )
  const listed = Object.values(makers).flatMap((one) => (typeof one === 'string' ? [] : one))
  assert.deepEqual(listed.toSorted(), cards.map(([name]) => name).toSorted())
})

test('a typed number is the key that the card shows, also where another program gives its options other numbers', () => {
  for (const [name, question] of cards) {
    const keys = optionKeys(question.options)
    for (const [at, { id }] of question.options.entries()) {
      assert.deepEqual(picksIn(question, [String(keys[at])]), [id], name)
      assert.deepEqual(picksTyped(question, String(keys[at])), [id], name)
    }
    assert.deepEqual(picksTyped(question, ''), escapeOf(question).picks, name)
  }
})
