import { lstatSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

// Puts a link in the place of a folder of the project, and of a file, and takes it away again, until it is killed.
const [root, outside] = process.argv.slice(2) as [string, string]
mkdirSync(join(root, 'src'), { recursive: true })
const at = (name: string) => join(root, name)
const quietly = (act: () => void) => {
  try {
    act()
  } catch {
    // The tools work in these folders too: a name that is there, or gone, is met again in the next round.
  }
}
writeSync(1, 'flipping\n')
for (let round = 0; ; round++) {
  // A link is made beside and renamed over a file in one step; a folder has to be moved away first.
  quietly(() => renameSync(at('src'), at('.src')))
  quietly(() => symlinkSync(outside, at('src')))
  quietly(() => symlinkSync(join(outside, 'secret.txt'), at('.link')))
  quietly(() => renameSync(at('.link'), at('plain.txt')))
  for (let pause = 0; pause < (round % 7) * 40; pause++) lstatSync(root)
  quietly(() => {
    if (lstatSync(at('src')).isSymbolicLink()) unlinkSync(at('src'))
  })
  quietly(() => renameSync(at('.src'), at('src')))
  quietly(() => {
    writeFileSync(at('.plain'), 'inside two\n')
    if (lstatSync(at('plain.txt')).isSymbolicLink()) renameSync(at('.plain'), at('plain.txt'))
  })
  for (let pause = 0; pause < (round % 5) * 40; pause++) lstatSync(root)
}
