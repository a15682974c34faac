import { crc32, deflateSync } from 'node:zlib'

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

/** A grey PNG of this size that every decoder reads; `more` bytes of a comment make it as large as a test needs it. */
export function png(width: number, height: number, more = 0): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...(more > 0 ? [chunk('tEXt', Buffer.alloc(more, 'x'))] : []),
    // Each row begins with the number of its filter.
    chunk(
      'IDAT',
      deflateSync(Buffer.alloc((width + 1) * height, Buffer.concat([Buffer.alloc(1), Buffer.alloc(width, 0x7f)]))),
    ),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The frame of a JPEG, enough to read its size by. */
export function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const comment = Buffer.from([0xff, 0xfe, 0, 6, 0xff, 0xd9, 0xff, 0xc0])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    comment,
    frame,
    Buffer.from([0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9]),
  ])
}

export function gif(width: number, height: number): Buffer {
  const body = Buffer.from('GIF89a\0\0\0\0\0\0\0\x2c\0\0\0\0\0\0\0\0\0\x02\0\x3b', 'latin1')
  body.writeUInt16LE(width, 6)
  body.writeUInt16LE(height, 8)
  return body
}

/** A WebP in one of its three forms. */
export function webp(width: number, height: number, form: 'VP8 ' | 'VP8L' | 'VP8X' = 'VP8X'): Buffer {
  const body = Buffer.alloc(20)
  if (form === 'VP8X') {
    body.writeUIntLE(width - 1, 4, 3)
    body.writeUIntLE(height - 1, 7, 3)
  } else if (form === 'VP8L') {
    body[0] = 0x2f
    body.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  } else {
    body.writeUInt16LE(width, 6)
    body.writeUInt16LE(height, 8)
  }
  const head = Buffer.from('RIFF\0\0\0\0WEBP\0\0\0\0\0\0\0\0', 'latin1')
  head.writeUInt32LE(12 + body.length, 4)
  head.write(form, 12, 'latin1')
  head.writeUInt32LE(body.length, 16)
  return Buffer.concat([head, body])
}
