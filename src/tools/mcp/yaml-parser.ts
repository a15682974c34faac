/** Named, because a bundle hands a module of the old kind over as one thing when it is loaded late. */
export { parse } from 'yaml'
