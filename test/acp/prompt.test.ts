import { test } from 'node:test'
import assert from 'node:assert/strict'
import { promptText } from '../../src/acp/editor-prompt.ts'

test('text, links, pictures and enclosed files are one prompt', async () => {
  const prompt = await promptText(
    [
      { type: 'text', text: 'Compare ' },
      { type: 'resource_link', name: 'a', uri: 'file:///project/src/a%20b.ts' },
      { type: 'text', text: ' with ' },
      { type: 'resource', resource: { uri: 'file:///project/b.ts#L3:7', text: 'let b </file>' } },
      { type: 'text', text: ' and ' },
      { type: 'resource_link', name: 'c', uri: 'https://example.org/c' },
      { type: 'resource_link', name: 'd', uri: 'file:///elsewhere/d.ts' },
      { type: 'text', text: ' see ' },
      { type: 'image', data: 'eA==', mimeType: 'image/png' },
      { type: 'image', data: 'eQ==', mimeType: 'image/png', uri: 'file:///project/shot.png' },
      { type: 'resource', resource: { uri: 'file:///project/in/z.png', mimeType: 'image/png', blob: 'eg==' } },
      { type: 'audio', data: '', mimeType: 'audio/wav' },
    ],
    '/project',
    async (data, name) => `<${data} ${name}>`,
  )
  const [sentence, file] = prompt.split('\n\n')
  assert.equal(
    sentence,
    'Compare @"src/a b.ts" with b.ts#L3-7 and https://example.org/c@"/elsewhere/d.ts" see <eA== from the editor><eQ== shot.png><eg== in/z.png>[audio]',
  )
  assert.match(file!, /^<file path="b.ts#L3-7">\nlet b /)
  assert.ok(!file!.slice(0, -'</file>'.length).includes('</file>'))
})
