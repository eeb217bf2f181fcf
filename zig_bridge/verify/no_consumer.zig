//! Stands in for the generated file that knows a consumer's rounds, where `verify-set` is to check files only.
