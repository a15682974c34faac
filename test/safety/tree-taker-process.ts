import { writeFileSync } from 'node:fs'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'

/** A second termaite: changes a file of its own and takes the tree, again and again, and prints each as a line. */
const [root = '', dir = '', name = '', times = ''] = process.argv.slice(2)
for (let i = 0; i < Number(times); i++) {
  writeFileSync(`${root}/${name}`, `${i}`.repeat(1000))
  console.log(JSON.stringify(await snapshots({ root, dir, env: process.env }).take()))
}
