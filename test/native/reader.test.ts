import { test } from 'node:test'
import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a file comes as it is, and a range of it with the numbers of its lines and with how to go on', async (t) => {
  const { write, say } = seat(t)
  write('a.txt', 'one\ntwo\n\nfour')
  assert.equal(await say('file_reader', { file_path: 'a.txt' }), 'one\ntwo\n\nfour')
  assert.equal(await say('file_reader', { file_path: 'a.txt', offset: 1 }), '1:one\n2:two\n3:\n4:four')
  assert.equal(
    await say('file_reader', { file_path: 'a.txt', offset: 2, limit: 2 }),
    '2:two\n3:\n[lines 2 to 3 of 4; go on with offset 4]',
  )
  assert.equal(
    await say('file_reader', { file_path: 'a.txt', offset: 9 }),
    '[the file has only 4 lines: choose a smaller offset]',
  )
  write('empty', '')
  assert.equal(await say('file_reader', { file_path: 'empty' }), '[the file is empty]')
})

test('a file that cannot be read is refused with what to do instead', async (t) => {
  const { write, say, at } = seat(t)
  write('src/index.ts', '')
  write('data.bin', Buffer.from([1, 0, 2]))
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync('circle', at('circle'))
  const read = (file_path: string) => say('file_reader', { file_path })
  assert.equal(await read('src/indx.ts'), `! src/indx.ts does not exist. Did you mean ${at('src/index.ts')}?`)
  golden(t, await read('src/nothing-like-it'))
  golden(t, await read('gone/a'), { [at('.')]: '<folder>' })
  golden(t, await read('src'))
  golden(t, await read('pipe'))
  golden(t, await read('circle'))
  golden(t, await read('data.bin'))
})

test('every encoding is read by its mark', async (t) => {
  const { write, say } = seat(t)
  const read = async (body: Uint8Array) => {
    write('text', body)
    return say('file_reader', { file_path: 'text' })
  }
  const be = Buffer.from('\ufeffhé\r\n', 'utf16le').swap16()
  assert.equal(await read(Buffer.from('\ufeffhé\r\n')), 'hé')
  assert.equal(await read(Buffer.from('\ufeffhé\r\n', 'utf16le')), 'hé\n[the file is UTF-16 LE]')
  assert.equal(await read(be), 'hé\n[the file is UTF-16 BE]')
  assert.equal(await read(Buffer.from('h\xe9\x80', 'latin1')), 'hé€\n[the file is Windows-1252]')
  assert.equal(
    await read(Buffer.concat([Buffer.from('hé '), Buffer.from([0xff])])),
    'hé \ufffd\n[the file is UTF-8 with broken characters]',
  )
})

test('a picture is attached as a file', async (t) => {
  const { write, whole } = seat(t)
  const png = Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1')
  write('shot.png', png)
  const { text, files } = await whole('file_reader', { file_path: 'shot.png' })
  assert.equal(text, 'shot.png is a picture (image/png, 13 bytes); it is attached.')
  assert.deepEqual(
    (files as { media: string; bytes: number }[]).map(({ media, bytes }) => ({ media, bytes })),
    [{ media: 'image/png', bytes: 13 }],
  )
})

test('long lines and many of them are cut, and the words say where the rest is', async (t) => {
  const { write, say } = seat(t)
  write('long', 'x'.repeat(5000))
  golden(t, await say('file_reader', { file_path: 'long' }))
  write('many', 'line\n'.repeat(3000))
  const lines = (await say('file_reader', { file_path: 'many' })).split('\n')
  assert.deepEqual(
    [lines.length, lines[1999], lines[2000]],
    [2001, 'line', '[lines 1 to 2000 of 3000; go on with offset 2001]'],
  )
})

test('a file of a gigabyte is read in bounded memory, wherever the range lies', async (t) => {
  const { at, say } = seat(t)
  mkdirSync(at('big'))
  const sparse = (name: string, head: string) => {
    const fd = openSync(at(`big/${name}`), 'w')
    writeSync(fd, head)
    ftruncateSync(fd, 2 ** 30)
    closeSync(fd)
  }
  sparse('lines', 'first line\n'.repeat(10_000))
  sparse('one', 'no end of this line ')
  const before = process.memoryUsage().rss
  golden(t, await say('file_reader', { file_path: 'big/lines', offset: 2, limit: 1 }))
  golden(t, await say('file_reader', { file_path: 'big/one' }))
  assert.equal(
    await say('file_reader', { file_path: 'big/lines', offset: 20_000 }),
    '[the file has only 10001 lines: choose a smaller offset]',
  )
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024)
})

/** A PDF with one line of text on each page; a page of undefined has none. */
function pdf(pages: readonly (string | undefined)[]): Buffer {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', '', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>']
  const kids: string[] = []
  for (const words of pages) {
    const drawn = words === undefined ? '' : `BT /F1 12 Tf 72 700 Td (${words}) Tj ET`
    const page = objects.length + 1
    kids.push(`${page} 0 R`)
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${page + 1} 0 R >>`,
      `<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
    )
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>`
  let body = '%PDF-1.4\n'
  const places = objects.map((object, i) => {
    const at = body.length
    body += `${i + 1} 0 obj\n${object}\nendobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  return Buffer.from(
    `${body}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
  )
}

test('a PDF is read page by page, as lines that a range can choose', async (t) => {
  const { write, say } = seat(t)
  write('a.pdf', pdf(['The first page', undefined, 'The last page']))
  golden(t, await say('file_reader', { file_path: 'a.pdf' }))
  assert.equal(
    await say('file_reader', { file_path: 'a.pdf', offset: 7, limit: 1 }),
    '7:--- page 3 of 3 ---\n[lines 7 to 7 of 8; go on with offset 8]',
  )
  write('torn.pdf', '%PDF-1.4\nnothing more')
  golden(t, await say('file_reader', { file_path: 'torn.pdf' }))
  golden(t, await say('file_reader', { file_path: 'a.pdf' }, { signal: AbortSignal.abort() }))
})

test('a notebook is read cell by cell with its outputs; with a range, as the JSON that can be edited', async (t) => {
  const { write, whole, say } = seat(t)
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const cells = [
    { cell_type: 'markdown', source: ['# Plan\n', 'Look.'] },
    {
      cell_type: 'code',
      execution_count: 2,
      source: 'draw()',
      outputs: [
        { output_type: 'stream', text: ['one\n', 'two\n'] },
        { output_type: 'display_data', data: { 'image/png': dot, 'text/plain': '<Figure>' } },
        { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: ['\x1b[31mValueError\x1b[0m: no'] },
      ],
    },
  ]
  const json = JSON.stringify({ cells, nbformat: 4 }, undefined, 1)
  write('a.ipynb', json)
  const { text, files } = await whole('file_reader', { file_path: 'a.ipynb' })
  golden(t, text)
  assert.equal(files?.length, 1)
  assert.equal(
    await say('file_reader', { file_path: 'a.ipynb', offset: 1, limit: 2 }),
    `1:{\n2: "cells": [\n[lines 1 to 2 of ${json.split('\n').length}; go on with offset 3]`,
  )
  write('broken.ipynb', '{"cells": 3}')
  assert.equal(await say('file_reader', { file_path: 'broken.ipynb' }), '{"cells": 3}')
})

test('a path with folders that do not exist is named as it is in the project', async (t) => {
  const { say, write, at } = seat(t)
  write('src/deep/a.ts', 'one\n')
  const meant = (path: string, real: string) => `! ${path} does not exist. Did you mean ${at(real)}?`
  for (const path of ['/workspace/src/deep/a.ts', '../src/deep/a.ts', '/a/b/c/src/deep/a.ts', 'app/src/deep/a.ts'])
    assert.equal(await say('file_reader', { file_path: path }), meant(path, 'src/deep/a.ts'))
  assert.equal(await say('ls', { path: '/workspace/src/deep' }), meant('/workspace/src/deep', 'src/deep'))
  golden(t, await say('file_reader', { file_path: '/workspace/b.ts' }))
})
