import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { documentIn } from '../../src/people/init/agents-file.ts'
import { block, codeBlocksIn } from '../../src/desk/slash/shared/code-block.ts'

const line = fc.oneof(
  fc.constantFrom('```', '```sh', '~~~', '````', '# AGENTS.md', '## How', '', 'make', '    ```'),
  fc.string({ unit: fc.constantFrom('a', ' ', '`', '#', '*') }),
)
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n').trimEnd())

test('text in a fenced block comes out of it as it was', () => {
  fc.assert(fc.property(text, (body) => assert.deepEqual(codeBlocksIn(block(body)), [body])))
})

test('a document comes out of any fence that is longer than its own, whatever is said before and after', () => {
  const chatter = fc.constantFrom('', 'Here it is:\n\n', 'Sure.\n')
  fc.assert(
    fc.property(text, chatter, fc.constantFrom('', 'md', 'markdown'), (body, before, language) => {
      const document = `# AGENTS.md\n\n## What\n${body}`.trimEnd()
      const fence = '`'.repeat(20)
      const answer = `${before}${fence}${language}\n${document}\n${fence}\nAnything else?`
      assert.equal(documentIn(answer), `${document}\n`)
      assert.equal(documentIn(document), `${document}\n`)
    }),
  )
})
