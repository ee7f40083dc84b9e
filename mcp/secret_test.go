package mcp_test

const keyCanary = "kestrelkeykestrelkeykestrelkey"
