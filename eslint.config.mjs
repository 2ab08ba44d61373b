// The rules for the page scripts. Names of the browser are tsc's to check.
import js from "@eslint/js";

export default [js.configs.recommended, { rules: { "no-undef": "off" } }];
