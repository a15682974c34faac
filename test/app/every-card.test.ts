import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeOf, optionKeys, picksIn, picksTyped } from '../../src/core/talk/consent.ts'
import { everyCard } from './every-card.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const cards = Object.entries(await everyCard())

test('the numbers of a card run from 1 without gaps, key 1 gives no yes that lasts, and a CLI keeps the numbers that it shows', (t) => {
  const seen = cards.map(([name, { options }]) => {
    const keys = optionKeys(options)
    return [name, options.map(({ label }, at) => `${keys[at]} ${label}`)]
  })
  golden(t, Object.fromEntries(seen))
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
  'native/loop/plan-card.ts': ['plan'],
  'native/loop/step-limits.ts': ['long-turn'],
  'agents/screen/screen-dialogs.ts': ['unread'],
  'agents/turn-watch.ts': ['silence'],
  'turn/attachments/attachments.ts': ['attach'],
  'people/init/init-turn.ts': ['init'],
  'native/command-home.ts': 'keys of the project: test/native/native-sandbox.test.ts',
  'native/native-sandbox.ts': 'a command that the wall refused: test/native/native-sandbox.test.ts',
  'race/kept-race.ts': 'whether a result replaces files that changed since its race: test/race/race-turn.test.ts',
  'cli/commands/machine/trust.ts': 'the text of a question that `confirm` asks',
  'core/work/perform.ts': ['permission', 'always-prefix', 'long-script'],
  'crew/workers/merge-card.ts': ['worker-stray', 'worker-conflict', 'worker-conflict-alone'],
  'desk/follow-up-cards.ts': ['left-processes', 'was-quota'],
  'desk/belongings-offer.ts': ['use-things', 'use-hook', 'use-write'],
  'desk/setup.ts': ['setup-agents', 'setup-leash', 'setup-replace'],
  // The other cards of this file are lists to choose from, which change nothing without an answer.
  'desk/slash/shared/choice.ts': ['stop-agent'],
  'desk/slash/conversation/clear.ts': ['clear'],
  'desk/slash/conversation/remember.ts': ['remember'],
  'desk/slash/agents/connect.ts': ['key'],
  'desk/slash/agents/leash.ts': ['leash-all', 'leash-always'],
  'desk/slash/agents/server-prompts.ts':
    "the arguments of a server's prompt, a list to choose from: test/screen/mcp.test.ts",
  'race/race-choice.ts': 'the results of a race, a list to choose from: test/race/race.test.ts',
  'turn/rotation/rotation-cards.ts': ['sharing', 'denied', 'login', 'quota', 'wait', 'absent'],
  'think/cost-consent.ts': ['think-cost', 'think-more'],
  'think/decompose/saved-trees.ts': ['think-tree'],
  'think/revert-offer.ts': ['revert'],
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
  'native/tools/ask-question.ts': ['agent-asks'],
  'native/tools/mcp/elicitation.ts': ['mcp-confirm', 'mcp-field', 'mcp-page'],
  'native/tools/mcp/remote-server.ts': 'the login page of an MCP server: test/native/tools/mcp/http.test.ts',
  'desk/slash/agents/model.ts': 'the models of an agent, a list to choose from: test/desk/slash-models.test.ts',
  'desk/slash/import.ts': 'the sessions to copy, a list to choose from: test/desk/slash-import.test.ts',
  'profiles/pi/pi-questions.ts': 'a dialog of a pi extension, in its own words: test/profiles/pi.test.ts',
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

test('a typed number is the key that the card shows', () => {
  for (const [name, question] of cards) {
    const keys = optionKeys(question.options)
    for (const [at, { id }] of question.options.entries()) {
      assert.deepEqual(picksIn(question, [String(keys[at])]), [id], name)
      assert.deepEqual(picksTyped(question, String(keys[at])), [id], name)
    }
    assert.deepEqual(picksTyped(question, ''), escapeOf(question).picks, name)
  }
})
