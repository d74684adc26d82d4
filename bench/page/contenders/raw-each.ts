export { each as contender } from './raw.js'
